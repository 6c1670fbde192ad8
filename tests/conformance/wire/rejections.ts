/** Test cases: requests that are rejected before the function runs. @see docs/protocol.md 2.7, 3.2 and 8.4 */
import assert from "node:assert/strict";
import {
  type CaseOptions,
  callRequest,
  type ExpectedError,
  expectError,
  expectResult,
  signIn,
  type Target,
  type WireCase,
  type WireRequest,
  wireCase,
} from "./exchange.ts";

const MIB = 1024 * 1024;

/** The responses to rejected calls, as the checks of docs/protocol.md 3.2 define them. */
export const EXPECTED = {
  methodNotAllowed: { status: 405, code: "validation_error", closes: true, headers: { allow: "POST" } },
  unsupportedMediaType: { status: 415, code: "validation_error", closes: true },
  forbidden: { status: 403, code: "forbidden", closes: true },
  rateLimited: { status: 429, code: "rate_limited", closes: true, headers: { "retry-after": /^[1-9]\d*$/ } },
  unknownFunction: { status: 404, code: "not_found", closes: true },
  unauthenticated: { status: 401, code: "unauthenticated", closes: true },
  contentTooLarge: { status: 413, code: "validation_error", closes: true },
  invalidBody: { status: 422, code: "validation_error" },
} as const satisfies Readonly<Record<string, ExpectedError>>;

/** Returns a case that sends a request and expects an error. */
export const rejects = (
  title: string,
  request: WireRequest,
  expected: ExpectedError,
  options: CaseOptions = {},
): WireCase =>
  wireCase(
    title,
    async (target) => {
      await expectError(target, request, expected);
    },
    options,
  );

const accepts = (title: string, request: WireRequest, options?: CaseOptions): WireCase =>
  wireCase(title, async (target) => assert.equal((await target.send(request)).status, 200), options);

/** Returns a call whose body has exactly `bytes` bytes. */
export const sizedCall = (bytes: number, overrides: Partial<WireRequest> = {}): WireRequest => {
  const overhead = JSON.stringify({ args: { value: "" } }).length;
  return {
    ...callRequest("echo"),
    body: JSON.stringify({ args: { value: "x".repeat(bytes - overhead) } }),
    ...overrides,
  };
};

const methodCases: readonly WireCase[] = [
  ...["GET", "PUT", "DELETE", "PATCH", "OPTIONS"].map((method) =>
    rejects(`rejects ${method} of a function with 405`, { method, path: "/__web/rpc/ping" }, EXPECTED.methodNotAllowed),
  ),
  rejects(
    "returns the parameters of the function with 405",
    { path: "/__web/rpc/countdown" },
    { ...EXPECTED.methodNotAllowed, details: { parameters: ["from"], stream: true } },
  ),
  wireCase(
    "rejects HEAD of a function with 405 and without a body",
    async (target) => {
      const { status, headers, text } = await target.send({ method: "HEAD", path: "/__web/rpc/ping" });
      assert.deepEqual([status, headers.get("allow"), text], [405, "POST", ""]);
      assert.match(headers.get("x-request-id") ?? "", /./);
    },
    { hostDependent: true },
  ),
  wireCase(
    "rejects a CORS preflight request with 405 and allows nothing to the other site",
    async (target) => {
      await expectError(
        target,
        {
          method: "OPTIONS",
          path: "/__web/rpc/ping",
          headers: {
            origin: "https://evil.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type",
          },
        },
        EXPECTED.methodNotAllowed,
      );
    },
    { hostDependent: true },
  ),
];

const callWithType = (type: string | null): WireRequest => {
  const { headers: _, ...rest } = callRequest("ping");
  return type === null ? rest : { ...rest, headers: { "content-type": type } };
};

const rejectsType = (type: string | null, options?: CaseOptions): WireCase =>
  rejects(
    type === null
      ? "rejects a call without a content type with 415"
      : `rejects a call of the content type ${JSON.stringify(type)} with 415`,
    callWithType(type),
    EXPECTED.unsupportedMediaType,
    options,
  );

const contentTypeCases: readonly WireCase[] = [
  ...[
    null,
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json5",
    "application/json-patch+json",
    "application/ld+json",
    "application/vnd.api+json",
    "text/plain; application/json",
    "text/plain; a=application/json",
  ].map((type) => rejectsType(type, { hostDependent: type === null })), // a host that parses bodies needs the type
  // A host's router may reject a malformed content type itself.
  ...["", "application/json, text/plain", "application /json", "application/js\u00f6n"].map((type) =>
    rejectsType(type, { answeredByHost: "router", hostDependent: true }),
  ),
  ...["application/json", "Application/JSON", "application/json;charset=utf-8", "application/json ; charset=UTF-8"].map(
    (type) =>
      wireCase(`accepts a call of the content type ${JSON.stringify(type)}`, async (target) => {
        await expectResult(target, "ping", {}, { "content-type": type });
      }),
  ),
];

/** A host may parse bodies before the application. */
const BODY_PARSER: CaseOptions = { answeredByHost: "body-parser", hostDependent: true };

const sizeCases: readonly WireCase[] = [
  accepts("accepts a body of 1 MiB less one byte", sizedCall(MIB - 1)),
  accepts("accepts a body of 1 MiB", sizedCall(MIB), { hostDependent: true }),
  rejects("rejects a body of 1 MiB and one byte with 413", sizedCall(MIB + 1), EXPECTED.contentTooLarge, {
    hostDependent: true,
  }),
  accepts("accepts a body of 1 MiB less one byte without Content-Length", sizedCall(MIB - 1, { chunked: true })),
  accepts("accepts a body of 1 MiB without Content-Length", sizedCall(MIB, { chunked: true }), { hostDependent: true }),
  rejects(
    "rejects a body of 1 MiB and one byte without Content-Length with 413",
    sizedCall(MIB + 1, { chunked: true }),
    EXPECTED.contentTooLarge,
    { hostDependent: true },
  ),
  wireCase(
    "rejects bodies of 3 MiB that arrive at once as one chunk with 413, and continues to serve",
    async (target) => {
      const call = sizedCall(3 * MIB, { chunked: "burst" });
      for (const path of [call.path, call.path, "/hooks/echo", "/hooks/echo"]) {
        assert.equal((await target.send({ ...call, path })).status, 413);
      }
      const bursts = Array.from({ length: 8 }, () => target.send(call));
      for (const { status } of await Promise.all(bursts)) assert.equal(status, 413);
      assert.equal((await expectResult(target, "ping")).value, "pong");
    },
    { hostDependent: true },
  ),
  rejects(
    "rejects a Content-Length over 1 MiB with 413 before the body is sent",
    { method: "POST", path: "/__web/rpc/echo", headers: callRequest("echo").headers ?? {}, contentLength: MIB + 1 },
    EXPECTED.contentTooLarge,
    BODY_PARSER,
  ),
  rejects(
    "counts the bytes of a body, not its characters",
    { ...callRequest("echo"), body: JSON.stringify({ args: { value: "\u00e9".repeat(MIB / 2) } }) },
    EXPECTED.contentTooLarge,
    { hostDependent: true },
  ),
];

const nestedArrays = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

const rejectsBody = (name: string, body: string | Uint8Array, options?: CaseOptions): WireCase =>
  rejects(`rejects ${name} with 422`, { ...callRequest("echo"), body }, EXPECTED.invalidBody, options);

const bodyCases: readonly WireCase[] = [
  rejectsBody("an empty body", "", BODY_PARSER),
  rejectsBody("a body that is not JSON", "{", BODY_PARSER),
  rejectsBody("a body with text after the JSON", '{"args":{}} x', BODY_PARSER),
  rejectsBody("a body that is not UTF-8", new Uint8Array([0xff, 0xfe, 0x00]), BODY_PARSER),
  ...["null", "1", '"args"', "true"].map((body) =>
    rejectsBody(`the body ${body}`, body, { ...BODY_PARSER, hostDependent: false }),
  ),
  ...["[]", '[{"args":{}}]', "{}", '{"args":null}', '{"args":[]}', '{"args":1}', '{"arg":{}}', '{"Args":{}}'].map(
    (body) => rejectsBody(`the body ${body}`, body),
  ),
  rejectsBody("a key named __proto__", '{"args":{"value":{"__proto__":{"polluted":1}}}}'),
  rejectsBody("arguments that nest deeper than 64 levels", `{"args":{"value":${nestedArrays(64)}}}`),
  accepts("accepts arguments that nest 64 levels deep", {
    ...callRequest("echo"),
    body: `{"args":{"value":${nestedArrays(63)}}}`,
  }),
  rejectsBody("arguments that nest 100,000 levels deep", `{"args":{"value":${nestedArrays(100_000)}}}`, BODY_PARSER),
  accepts("ignores other members than args in the body", { ...callRequest("ping"), body: '{"args":{},"id":1}' }),
  accepts("accepts an unpaired surrogate in a string", {
    ...callRequest("echo"),
    body: '{"args":{"value":"\\ud800"}}',
  }),
];

const functionCases: readonly WireCase[] = [
  ...["nowhere", "toString", "__proto__", "constructor", "Ping", "ping/", "ping/x", ""].map((name) =>
    rejects(
      `rejects a call of the unknown function ${JSON.stringify(name)} with 404`,
      callRequest(name),
      EXPECTED.unknownFunction,
      { hostDependent: name === "ping/" },
    ),
  ),
  rejects(
    "rejects a call of a module's function that is not declared with server()",
    callRequest("runs"),
    EXPECTED.unknownFunction,
  ),
  ...["%70ing", "pin%67", "%50ing", "%70%69%6e%67", "runs%5Fof"].map((name) =>
    rejects(
      `rejects a call whose name is percent-encoded without need with 400: ${name} [REQUEST-15]`,
      callRequest(name),
      {
        status: 400,
        code: "validation_error",
      },
      { hostDependent: name === "%70ing" },
    ),
  ),
];

const csrf = { variant: "csrf" } as const;

const authenticationCases: readonly WireCase[] = [
  rejects(
    "rejects a call of a function with auth_required without a session with 401",
    callRequest("secret"),
    EXPECTED.unauthenticated,
  ),
  rejects(
    "rejects a session cookie with a wrong signature with 401",
    callRequest("secret", {}, { cookie: "web_session=e30.AAAA; web_session_wire=e30.AAAA" }),
    EXPECTED.unauthenticated,
  ),
  wireCase("accepts a call of a function with auth_required with a session", async (target) => {
    assert.equal((await expectResult(target, "secret", {}, await signIn(target))).value, "ada");
  }),
];

const csrfCases: readonly WireCase[] = [
  rejects(
    "checks the session (401) before the CSRF token (403)",
    callRequest("secret", {}, { "x-csrf-token": "x" }),
    EXPECTED.unauthenticated,
    csrf,
  ),
  wireCase(
    "rejects a missing or wrong CSRF token with 403, and returns a valid one with the error",
    expectTokenCheck,
    csrf,
  ),
  wireCase(
    "accepts a call with a valid CSRF token",
    async (target) => {
      assert.equal((await expectResult(target, "secret", {}, await signIn(target))).value, "ada");
    },
    csrf,
  ),
  wireCase(
    "requires no CSRF token for a function without auth_required",
    async (target) => {
      await expectResult(target, "ping", {}, { cookie: (await signIn(target)).cookie ?? "" });
    },
    csrf,
  ),
];

async function expectTokenCheck(target: Target): Promise<void> {
  const { cookie = "" } = await signIn(target);
  for (const token of [undefined, "", "x", "a.b"]) {
    const headers = { cookie, ...(token === undefined ? {} : { "x-csrf-token": token }) };
    const response = await expectError(target, callRequest("secret", {}, headers), EXPECTED.forbidden);
    const validToken = response.headers.get("x-csrf-token") ?? "";
    assert.equal((await expectResult(target, "secret", {}, { cookie, "x-csrf-token": validToken })).value, "ada");
  }
}

export const rejectionCases: readonly WireCase[] = [
  ...methodCases,
  ...contentTypeCases,
  ...sizeCases,
  ...bodyCases,
  ...functionCases,
  ...authenticationCases,
  ...csrfCases,
];
