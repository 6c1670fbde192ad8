/**
 * A request and its answer as the wire suite speaks of them: over sockets and in process alike, and
 * without a test runner, so that the suite can be run against any address.
 */
import assert from "node:assert/strict";

/** A request: what is not said is as a script would send it. */
export interface Ask {
  readonly method?: string;
  /** Below the application's base. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The body is sent without its length. */
  readonly chunked?: boolean;
  /** The length that is told, where it is not the body's own; the body then need not be sent. */
  readonly length?: number;
}

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The connection is not used again; `null` where its connections, and how answers are framed, are the host's own. */
  readonly closes: boolean | null;
}

/** One way to the application, under one configuration. */
export interface Site {
  /** The origin it is asked under, as a page of its own would have it. */
  readonly origin: string;
  readonly base: string;
  send(ask: Ask): Promise<Answer>;
}

/** The configurations that rows ask for: variables of the environment. */
export const VARIANTS = {
  plain: {},
  csrf: { WEB_CSRF_SECRET: "3c".repeat(32) },
  origin: { WEB_ORIGIN: "https://shop.example,https://www.shop.example" },
  proxy: { WEB_TRUST_PROXY: "1" },
  rate: { WEB_TRUST_PROXY: "1", WIRE_CALLS: "3" },
  secure: { WEB_COOKIE_SECURE: "1" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export type Variant = keyof typeof VARIANTS;

/** What every variant has beside its own. */
export const COMMON = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_ENV: "development" } as const;

/** One rule of the interface, by name. */
export interface Row {
  readonly name: string;
  readonly variant: Variant;
  /**
   * What else than the application may answer first: a server around it that `parses` JSON bodies, or
   * that `routes` by itself, and so reads paths and content types before us.
   */
  readonly first?: "parses" | "routes";
  run(site: Site): Promise<void>;
}

/** Makes a row. */
export function row(name: string, run: Row["run"], more: Partial<Pick<Row, "variant" | "first">> = {}): Row {
  return { name, variant: "plain", run, ...more };
}

export const JSON_TYPE = { "content-type": "application/json" } as const;

/** Gives the request of a call, as a script sends it. */
export function calling(name: string, args: unknown = {}, headers: Ask["headers"] = {}): Ask {
  return {
    method: "POST",
    path: `/__web/rpc/${name}`,
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify({ args }),
  };
}

/** Sends a request, and holds the answer to what every answer must have. */
export async function send(site: Site, ask: Ask): Promise<Answer> {
  const answer = await site.send(ask);
  const { headers } = answer;
  assert.match(headers.get("x-request-id") ?? "", /^[A-Za-z0-9._-]{1,128}$/, "X-Request-Id");
  assert.match(headers.get("traceparent") ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/, "traceparent");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  // Nobody else's page may read an answer, whatever it asked.
  const allowed = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
  assert.deepEqual(allowed, []);
  return answer;
}

/** Calls a function, and gives what it answers with 200. */
export async function result(site: Site, name: string, args: unknown = {}, headers: Ask["headers"] = {}) {
  const answer = await send(site, calling(name, args, headers));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.headers.get("cache-control"), "private, no-store");
  const body = JSON.parse(answer.text);
  assert.deepEqual(Object.keys(body), ["result"]);
  return { ...answer, value: body.result };
}

/** What a refusal must be, beside the shape of an error. */
export interface Refused {
  readonly status: number;
  readonly code: string;
  /** Its body was not read: what is left of it must not be taken for another request. */
  readonly closes?: boolean;
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  readonly message?: RegExp;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Holds an answer to whether its connection is used again. */
export function assertCloses({ closes }: Answer, wanted: boolean): void {
  if (closes !== null) assert.equal(closes, wanted, "whether the connection closes");
}

/** Sends a request that must be refused, and gives the error. */
export async function refusal(site: Site, ask: Ask, wanted: Refused) {
  const answer = await send(site, ask);
  assert.equal(answer.status, wanted.status, answer.text);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.headers.get("cache-control"), "private, no-store");
  assertCloses(answer, wanted.closes ?? false);
  const body = JSON.parse(answer.text);
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error), ["code", "message", "details"]);
  assert.equal(body.error.code, wanted.code);
  assert.match(body.error.message, wanted.message ?? /./);
  assert.equal(Object.prototype.toString.call(body.error.details), "[object Object]");
  if (wanted.details) assert.deepEqual(body.error.details, wanted.details);
  for (const [name, value] of Object.entries(wanted.headers ?? {})) {
    if (typeof value === "string") assert.equal(answer.headers.get(name), value);
    else assert.match(answer.headers.get(name) ?? "", value);
  }
  return { ...answer, error: body.error };
}

/** Gives the cookies of an answer as the next request sends them. */
export function cookieOf({ headers }: Answer): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
}

/** Signs in, and gives what the next request is sent with. */
export async function signedIn(site: Site, roles: readonly string[] = []): Promise<Record<string, string>> {
  const answer = await result(site, "login", { sub: "ada", roles });
  const token = answer.headers.get("x-csrf-token");
  return { cookie: cookieOf(answer), ...(token === null ? {} : { "x-csrf-token": token }) };
}
