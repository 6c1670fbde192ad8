import { type BuildToolAccess, developmentPolicy } from "./development-policy.ts";

/**
 * The default content security policy. It allows no inline script anywhere. It allows inline `style` attributes, so that
 * `style={…}` works in JSX, but no `<style>` elements.
 */
const DEFAULT_POLICY: readonly (readonly [string, string])[] = [
  ["default-src", "'self'"],
  ["script-src", "'self'"],
  ["style-src", "'self'"],
  ["style-src-attr", "'unsafe-inline'"],
  ["object-src", "'none'"],
  ["base-uri", "'none'"],
  ["form-action", "'self'"],
  ["frame-ancestors", "'self'"],
  ["img-src", "'self' data: https:"],
];

const POLICY_HEADER = "content-security-policy";

const DEFAULT_HEADERS: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "SAMEORIGIN"],
  ["referrer-policy", "strict-origin-when-cross-origin"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["permissions-policy", "camera=(), geolocation=(), microphone=()"],
];

/** The options with which an application or a page changes its security headers. */
export interface SecurityOptions {
  /**
   * Directives of the content security policy. Each replaces the default directive of its name; `null` removes it.
   *
   * @example policy: { "img-src": "'self' https://images.example" }
   */
  readonly policy?: Readonly<Record<string, string | null>>;
  /**
   * Headers. Each replaces the default header of its name; `null` removes it.
   *
   * @example headers: { "x-frame-options": null, "referrer-policy": "no-referrer" }
   */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** The security headers as pairs of name and value. A response that already has one of them keeps its own. */
export type SecurityHeaders = readonly (readonly [string, string])[];

/** The conditions of the default security headers. */
export interface SecurityEnvironment {
  /** What the build tool needs in a page of the development server; `null` in any other server. */
  readonly buildTool: BuildToolAccess | null;
  /** Whether clients connect over HTTPS: `WEB_COOKIE_SECURE=1`. */
  readonly secure: boolean;
}

/**
 * Returns the security headers of all responses. Call it once for an application and once for each page with options.
 *
 * @param options of the application, then of the page: later options take precedence
 * @see docs/protocol.md 2.5
 */
export function createSecurityHeaders(
  { buildTool, secure }: SecurityEnvironment,
  ...options: readonly SecurityOptions[]
): SecurityHeaders {
  const directives = new Map<string, string | null>(DEFAULT_POLICY);
  const headers = new Map<string, string | null>(DEFAULT_HEADERS);
  if (secure) headers.set("strict-transport-security", "max-age=31536000");
  for (const { policy = {}, headers: changes = {} } of options) {
    for (const [name, value] of Object.entries(policy)) directives.set(name, value);
    for (const [name, value] of Object.entries(changes)) headers.set(name.toLowerCase(), value);
  }
  const all = new Map<string, string | null>([[POLICY_HEADER, formatPolicy(directives)], ...headers]);
  const policy = all.get(POLICY_HEADER);
  if (buildTool && policy) all.set(POLICY_HEADER, developmentPolicy(policy, buildTool));
  return [...all].filter((header): header is [string, string] => header[1] !== null);
}

/** Returns the value of the policy's header, or `null` if all directives were removed. */
function formatPolicy(directives: ReadonlyMap<string, string | null>): string | null {
  const present = [...directives].filter(([, sources]) => sources !== null);
  return present.map((directive) => directive.join(" ").trim()).join("; ") || null;
}
