import { CSRF_HEADER } from "../protocol/index.ts";

/**
 * What every answer says to browsers about itself.
 *
 * The policy allows no inline script anywhere. Inline `style` attributes are allowed, so that
 * `style={…}` works in markup; `<style>` elements are not.
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
  "img-src 'self' data: https:",
];

/** What an application, or one page of it, says in the place of what answers say by themselves. */
export interface SecurityOptions {
  /**
   * Directives of the content policy, each in the place of the one of its name; `null` leaves one out.
   *
   * @example policy: { "img-src": "'self' https://images.example" }
   */
  readonly policy?: Readonly<Record<string, string | null>>;
  /**
   * Headers, each in the place of the one of its name; `null` leaves one out.
   *
   * @example headers: { "x-frame-options": null, "referrer-policy": "no-referrer" }
   */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** Name and value of each security header; one that the answer has itself stays. */
export type SecurityHeaders = readonly (readonly [string, string])[];

/** What the headers depend on beside what is said. */
export interface SecurityFacts {
  readonly development: boolean;
  /** Whether visitors come over HTTPS. */
  readonly secure: boolean;
}

/**
 * Gives the security headers of answers, once for all of them.
 *
 * @param said by the application, then by the page: the later goes before the earlier
 */
export function createSecurityHeaders(
  { development, secure }: SecurityFacts,
  ...said: readonly SecurityOptions[]
): SecurityHeaders {
  const rules = new Map(POLICY.map((rule) => splitRule(rule)));
  const headers = new Map<string, string | null>(HEADERS);
  if (secure) headers.set("strict-transport-security", "max-age=31536000");
  for (const { policy = {}, headers: more = {} } of said) {
    for (const [name, value] of Object.entries(policy)) rules.set(name, value);
    for (const [name, value] of Object.entries(more)) headers.set(name.toLowerCase(), value);
  }
  if (development) allowBuildTool(rules);
  const written = [...rules].filter(([, value]) => value !== null).map((rule) => rule.join(" ").trim());
  const lines = new Map<string, string | null>([[POLICY_HEADER, written.join("; ") || null], ...headers]);
  return [...lines].filter((line): line is [string, string] => line[1] !== null);
}

const POLICY_HEADER = "content-security-policy";

const HEADERS = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "SAMEORIGIN"],
  ["referrer-policy", "strict-origin-when-cross-origin"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["permissions-policy", "camera=(), geolocation=(), microphone=()"],
] as const;

function splitRule(rule: string): [string, string | null] {
  const at = rule.indexOf(" ");
  return [rule.slice(0, at), rule.slice(at + 1)];
}

/**
 * Lets the build tool do what it does in a page: its hot reload puts style sheets of CSS modules into
 * <style> elements, and asks from a worker of its own making whether the server is back.
 */
function allowBuildTool(rules: Map<string, string | null>): void {
  const styles = rules.get("style-src");
  if (styles) rules.set("style-src", `${styles} 'unsafe-inline'`);
  rules.set("worker-src", `${rules.get("worker-src") ?? "'self'"} blob:`);
}

/** What no option may set: what frames an answer, and what is said for each request by itself. */
const RESERVED: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "set-cookie",
  "trailer",
  "transfer-encoding",
  "traceparent",
  "upgrade",
  CSRF_HEADER,
  "x-request-id",
]);

/**
 * Holds `policy` and `headers` to what a header can say.
 *
 * @param who said it, for the message: `new App`
 * @throws Error that says what is wrong with which
 */
export function checkSecurityOptions({ policy = {}, headers = {} }: SecurityOptions, who: string): void {
  for (const [name, value] of Object.entries(policy)) {
    const isUsable = /^[a-z][a-z-]*$/.test(name) && (value === null || isText(value, /^[\x20-\x7e]*$/, /[;,]/));
    if (!isUsable) {
      throw new Error(
        `${who}: ${JSON.stringify(name)} of the policy is ${JSON.stringify(value)}. It takes a directive's name, and its ` +
          `sources without ";" and ",": "img-src": "'self' https://images.example", or null to leave it out.`,
      );
    }
  }
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value, who);
}

function checkHeader(name: string, value: string | null, who: string): void {
  const isUsable = /^[A-Za-z0-9-]+$/.test(name) && (value === null || isText(value, /^[\x20-\x7e\t]+$/));
  if (isUsable && !RESERVED.has(name.toLowerCase())) return;
  throw new Error(
    isUsable
      ? `${who}: the header ${name} is set for each answer by itself, and cannot be set here.`
      : `${who}: the header ${JSON.stringify(name)} is ${JSON.stringify(value)}. It takes a header's name, and a text ` +
          "of one line, in ASCII, or null to leave it out.",
  );
}

function isText(value: unknown, form: RegExp, without?: RegExp): boolean {
  return typeof value === "string" && form.test(value) && !without?.test(value);
}
