import {
  CSRF_HEADER,
  PUBLISHED_HEADER,
  REDIRECT_HEADER,
  REQUEST_ID_HEADER,
  TRACEPARENT_HEADER,
} from "../protocol/index.ts";

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

/**
 * The headers of data: of JSON, and of streams of JSON. If a browser opens or embeds such a response in spite of its type,
 * nothing in it may load, run or be framed. The other default headers only affect documents.
 */
const DATA_HEADERS: readonly (readonly [string, string])[] = [
  [POLICY_HEADER, "default-src 'none'; frame-ancestors 'none'"],
  ["x-content-type-options", "nosniff"],
  ["cross-origin-resource-policy", "same-origin"],
];

/** The names of the headers that data has no use for, or only with a value of its own. */
const ONLY_OF_DOCUMENTS: ReadonlySet<string> = new Set([
  POLICY_HEADER,
  ...DEFAULT_HEADERS.map(([name]) => name).filter((name) => !DATA_HEADERS.some(([kept]) => kept === name)),
]);

const STRICT_TRANSPORT: readonly [string, string] = ["strict-transport-security", "max-age=31536000"];

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

/** The security headers of an application, by what its responses contain. */
export interface ResponseSecurity {
  /** Those of pages, files, texts and responses of routes. */
  readonly documents: SecurityHeaders;
  /** Those of JSON and of streams of JSON. */
  readonly data: SecurityHeaders;
}

/** The conditions of the default security headers. */
export interface SecurityEnvironment {
  /** What the build tool needs in a page of the development server; `null` in any other server. */
  readonly buildTool: BuildToolAccess | null;
  /** Whether clients connect over HTTPS: `WEB_COOKIE_SECURE=1`. */
  readonly secure: boolean;
}

/**
 * Returns the security headers of all responses but data. Call it once for an application and once for each page with options.
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
  if (secure) headers.set(...STRICT_TRANSPORT);
  for (const { policy = {}, headers: changes = {} } of options) {
    for (const [name, value] of Object.entries(policy)) directives.set(name, value);
    for (const [name, value] of Object.entries(changes)) headers.set(name.toLowerCase(), value);
  }
  const all = new Map<string, string | null>([[POLICY_HEADER, formatPolicy(directives)], ...headers]);
  const policy = all.get(POLICY_HEADER);
  if (buildTool && policy) all.set(POLICY_HEADER, developmentPolicy(policy, buildTool));
  return [...all].filter((header): header is [string, string] => header[1] !== null);
}

/**
 * Returns the security headers of data. The application's option `headers` applies, except to the policy and to the
 * headers that only affect documents.
 *
 * @see docs/protocol.md 2.5
 */
export function createDataHeaders(
  { secure }: Pick<SecurityEnvironment, "secure">,
  { headers: changes = {} }: SecurityOptions = {},
): SecurityHeaders {
  const headers = new Map<string, string | null>(DATA_HEADERS);
  if (secure) headers.set(...STRICT_TRANSPORT);
  for (const [name, value] of Object.entries(changes)) {
    if (!ONLY_OF_DOCUMENTS.has(name.toLowerCase())) headers.set(name.toLowerCase(), value);
  }
  return [...headers].filter((header): header is [string, string] => header[1] !== null);
}

/** Returns the value of the policy's header, or `null` if all directives were removed. */
function formatPolicy(directives: ReadonlyMap<string, string | null>): string | null {
  const present = [...directives].filter(([, sources]) => sources !== null);
  return present.map((directive) => directive.join(" ").trim()).join("; ") || null;
}

/** The headers that no option may set: those that frame a response, and those that tsweb sets for each response. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "set-cookie",
  "trailer",
  "transfer-encoding",
  TRACEPARENT_HEADER,
  "upgrade",
  CSRF_HEADER,
  PUBLISHED_HEADER,
  REDIRECT_HEADER,
  REQUEST_ID_HEADER,
]);

/**
 * Checks the options `policy` and `headers` of an application or a page. It refuses what could add another directive
 * or another header (header injection).
 *
 * @param location the call that has the options, for the message: `new App`
 * @throws Error that names the option, its value, and the expected form
 */
export function checkSecurityOptions({ policy = {}, headers = {} }: SecurityOptions, location: string): void {
  for (const [name, value] of Object.entries(policy)) checkDirective(name, value, location);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value, location);
}

function checkDirective(name: string, value: unknown, owner: string): void {
  // ";" would start another directive, and "," another policy.
  const isValid = value === null || (matches(value, /^[\x20-\x7e]*$/) && !/[;,]/.test(value));
  if (isValid && /^[a-z][a-z-]*$/.test(name)) return;
  throw new Error(
    `${owner}: ${JSON.stringify(name)} of the policy is ${JSON.stringify(value)}. Set the name of a directive to its ` +
      `sources without ";" and ",", for example "img-src": "'self' https://images.example", or to null to remove it.`,
  );
}

/**
 * Checks one header: its name, and its value, which is `null` to remove it.
 *
 * @param owner the call that sets it, for the message: `new App`
 * @throws Error for a reserved name, and for an invalid name or value
 */
export function checkHeader(name: string, value: unknown, owner: string): void {
  const isValid = /^[A-Za-z0-9-]+$/.test(name) && (value === null || matches(value, /^[\x20-\x7e\t]+$/));
  if (!isValid) {
    throw new Error(
      `${owner}: the header ${JSON.stringify(name)} is ${JSON.stringify(value)}. Set the name of a header to one ` +
        "line of ASCII text, or to null to remove it.",
    );
  }
  if (RESERVED_HEADERS.has(name.toLowerCase())) {
    throw new Error(`${owner}: the header ${name} cannot be set here. tsweb sets it for each response. Remove it.`);
  }
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

/** What the content security policy of the development server allows in addition to that of the application. */
export interface BuildToolAccess {
  /** The nonce of the build tool's scripts and style elements. */
  readonly nonce: string;
  /** The path to which browsers report violations of the policy. */
  readonly reportPath: string;
}

/** The directives for elements that the build tool adds to pages, and the directives that apply without them. */
const ELEMENT_DIRECTIVES = [
  ["script-src-elem", "script-src"],
  ["style-src-elem", "style-src"],
] as const;

/**
 * Returns the policy of an application with what the build tool needs in a page: its scripts, and the `<style>` elements
 * that it inserts after an edit. They are allowed by a nonce, in directives for elements, so that the policy applies to
 * everything of the application as in production.
 *
 * Browsers send reports of violations to the development server only, not to the endpoint that the application has for
 * production.
 *
 * @param policy the value of the header: one policy, or several that are separated by commas
 * @see docs/protocol.md 12.5
 * @see https://www.w3.org/TR/CSP3/#match-element-to-source-list
 */
export function developmentPolicy(policy: string, access: BuildToolAccess): string {
  return policy
    .split(",")
    .map((single) => allowBuildTool(single, access))
    .join(", ");
}

function allowBuildTool(policy: string, { nonce, reportPath }: BuildToolAccess): string {
  const directives = parsePolicy(policy);
  for (const [name, general] of ELEMENT_DIRECTIVES) {
    const sources = directives.get(name) ?? directives.get(general) ?? directives.get("default-src");
    // With a nonce, browsers ignore 'unsafe-inline': the application's own elements would be blocked in development only.
    if (sources === undefined || sources.some((source) => /^'unsafe-inline'$/i.test(source))) continue;
    const others = sources.filter((source) => !/^'none'$/i.test(source)); // 'none' is valid only alone
    directives.set(name, [...others, `'nonce-${nonce}'`]);
  }
  directives.delete("report-to"); // takes precedence over report-uri
  directives.set("report-uri", [reportPath]);
  return [...directives].map(([name, sources]) => [name, ...sources].join(" ")).join("; ");
}

/**
 * Returns the directives of a policy and their sources. Of two directives with one name, the first applies.
 *
 * @see https://www.w3.org/TR/CSP3/#parse-serialized-policy
 */
export function parsePolicy(policy: string): Map<string, readonly string[]> {
  const directives = new Map<string, readonly string[]>();
  for (const directive of policy.split(";")) {
    const [name = "", ...sources] = directive.trim().split(/\s+/);
    const key = name.toLowerCase();
    if (key !== "" && !directives.has(key)) directives.set(key, sources);
  }
  return directives;
}
