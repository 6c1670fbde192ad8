/**
 * The requests, responses and test cases of the wire suite. They need no test runner, so that
 * `npm run matrix` can run the suite on other runtimes.
 */
import assert from "node:assert/strict";

/** A request of the suite. */
export interface WireRequest {
  /** `GET` by default. */
  readonly method?: string;
  /** The path, relative to the application's base. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sends the body in chunks, without `Content-Length`; as a burst: as one chunk, in one write with the headers. */
  readonly chunked?: boolean | "burst";
  /** The value of `Content-Length`, if it is not the length of the body. The body may then be omitted. */
  readonly contentLength?: number;
}

/** A complete response. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the response closes the connection; `null` if the runtime decides on connections and framing itself. */
  readonly closes: boolean | null;
}

/** An application with one configuration, and a transport to it. */
export interface Target {
  /** The origin of the application's own pages, for example `http://127.0.0.1:43121`. */
  readonly origin: string;
  /** The base of the application. */
  readonly base: string;
  send(request: WireRequest): Promise<WireResponse>;
}

/** The environment variables of each configuration that test cases need. */
export const VARIANT_ENV = {
  plain: {},
  csrf: { WEB_CSRF_SECRET: "3c".repeat(32) },
  origin: { WEB_ORIGIN: "https://shop.example,https://www.shop.example" },
  proxy: { WEB_TRUST_PROXY: "1" },
  rate: { WEB_TRUST_PROXY: "1", WIRE_CALLS: "3" },
  secure: { WEB_COOKIE_SECURE: "1" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The name of a configuration. */
export type Variant = keyof typeof VARIANT_ENV;

/** The environment variables that all configurations share. */
export const COMMON_ENV = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_ENV: "development" } as const;

/**
 * A component of a host server that may respond in place of the application: Express' JSON parser, Fastify's router,
 * Elysia's responses to HEAD of the base, whose Content-Length it replaces, and the development server, which builds no
 * files and shows errors with their stack.
 */
export type HostComponent = "body-parser" | "router" | "development" | "head";

/** One test case: one rule of docs/protocol.md. */
export interface WireCase {
  /** A sentence about the behaviour of the application. */
  readonly title: string;
  readonly variant: Variant;
  /** The host component that may respond to this case instead of the application. */
  readonly answeredByHost?: HostComponent;
  /**
   * Whether a host can change the result, because hosts parse, rewrite or send that part of a message themselves: targets,
   * headers, bodies and their limits, connections, streams. Only these cases run in most hosts, all others in three.
   */
  readonly hostDependent?: boolean;
  run(target: Target): Promise<void>;
}

/** The optional properties of a test case. */
export type CaseOptions = Partial<Pick<WireCase, "variant" | "answeredByHost" | "hostDependent">>;

/** Returns a test case, of the variant `plain` by default. */
export function wireCase(title: string, run: WireCase["run"], options: CaseOptions = {}): WireCase {
  return { title, variant: "plain", run, ...options };
}

/** The header of a JSON body. */
export const JSON_TYPE = { "content-type": "application/json" } as const;

/** Returns the request of a call, as a script sends it. */
export function callRequest(name: string, args: unknown = {}, headers: WireRequest["headers"] = {}): WireRequest {
  return {
    method: "POST",
    path: `/__web/rpc/${name}`,
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify({ args }),
  };
}

/**
 * Sends a request, and asserts the headers that every response must have.
 *
 * @see docs/protocol.md 2.3 to 2.5
 */
export async function send(target: Target, request: WireRequest): Promise<WireResponse> {
  const response = await target.send(request);
  const { headers } = response;
  assert.match(headers.get("x-request-id") ?? "", /^[A-Za-z0-9._-]{1,128}$/, "X-Request-Id");
  assert.match(headers.get("traceparent") ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/, "traceparent");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assertNoCorsHeaders(response);
  return response;
}

/** Asserts that a response lets no page of another origin read it. */
export function assertNoCorsHeaders({ headers }: WireResponse): void {
  const corsHeaders = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
  assert.deepEqual(corsHeaders, []);
}

/** Calls a function, asserts a successful response, and returns it with the function's result as `value`. */
export async function expectResult(
  target: Target,
  name: string,
  args: unknown = {},
  headers: WireRequest["headers"] = {},
) {
  const response = await send(target, callRequest(name, args, headers));
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(response.headers.get("cache-control"), "private, no-cache");
  const body = JSON.parse(response.text);
  assert.deepEqual(Object.keys(body), ["result"]);
  return { ...response, value: body.result };
}

/** What an error response must contain. */
export interface ExpectedError {
  readonly status: number;
  readonly code: string;
  /** Whether the connection must close, because the body was not read. `false` by default. */
  readonly closes?: boolean;
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  readonly message?: RegExp;
  readonly details?: Readonly<Record<string, unknown>>;
  /** `Cache-Control`. That of a response to a script by default. */
  readonly caching?: string;
}

/** Asserts whether a response closes its connection, unless the runtime decides on that. */
export function assertCloses({ closes }: WireResponse, expected: boolean): void {
  if (closes !== null) assert.equal(closes, expected, "whether the connection closes");
}

/**
 * Sends a request, asserts an error response, and returns it with the error of its body as `error`.
 *
 * @see docs/protocol.md 5.2
 */
export async function expectError(target: Target, request: WireRequest, expected: ExpectedError) {
  const response = await send(target, request);
  assert.equal(response.status, expected.status, response.text);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(response.headers.get("cache-control"), expected.caching ?? "private, no-cache");
  assertCloses(response, expected.closes ?? false);
  const body = JSON.parse(response.text);
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error), ["code", "message", "details"]);
  assert.equal(body.error.code, expected.code);
  assert.match(body.error.message, expected.message ?? /./);
  assert.equal(Object.prototype.toString.call(body.error.details), "[object Object]");
  if (expected.details) assert.deepEqual(body.error.details, expected.details);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (typeof value === "string") assert.equal(response.headers.get(name), value);
    else assert.match(response.headers.get(name) ?? "", value);
  }
  if (response.status === 429) {
    const { retry_after: seconds } = body.error.details; // errors of the application may have none
    assert.equal(response.headers.get("retry-after"), seconds === undefined ? null : String(seconds));
  }
  return { ...response, error: body.error };
}

/** Returns the `Cookie` header with which a client sends back the cookies of a response. */
export function cookieHeader({ headers }: WireResponse): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
}

/** Signs in, and returns the headers of the session: the cookie, and the CSRF token if there is one. */
export async function signIn(target: Target, roles: readonly string[] = []): Promise<Record<string, string>> {
  const response = await expectResult(target, "login", { sub: "ada", roles });
  const token = response.headers.get("x-csrf-token");
  return { cookie: cookieHeader(response), ...(token === null ? {} : { "x-csrf-token": token }) };
}
