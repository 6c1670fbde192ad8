/** Test cases: the request id and trace context of every kind of response. @see docs/protocol.md 2.3 and 2.4 */
import assert from "node:assert/strict";
import {
  type CaseOptions,
  callRequest,
  cookieHeader,
  expectResult,
  send,
  type Target,
  type WireCase,
  type WireRequest,
  wireCase,
} from "./exchange.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID = "00f067aa0ba902b7";

/** A kind of response, and the request that causes it. */
interface ResponseKind {
  readonly name: string;
  readonly status: number;
  readonly request: WireRequest | ((target: Target) => Promise<WireRequest>);
  readonly options?: CaseOptions;
}

const RESPONSE_KINDS: readonly ResponseKind[] = [
  { name: "a page", status: 200, request: { path: "/" } },
  { name: "a HEAD of a page", status: 200, request: { method: "HEAD", path: "/" }, options: { hostDependent: true } },
  { name: "a redirect", status: 303, request: { path: "/moved" } },
  { name: "a page with a trailing slash", status: 308, request: { path: "/me/" } },
  { name: "a file", status: 200, request: { path: "/robots.txt" } },
  { name: "a file that is not modified", status: 304, request: conditionalRequest },
  { name: "a script", status: 200, request: scriptRequest },
  { name: "a path without a page", status: 404, request: { path: "/nowhere" } },
  { name: "a PUT of a page", status: 405, request: { method: "PUT", path: "/" } },
  { name: "a page that throws", status: 500, request: { path: "/broken" } },
  { name: "a page that requires a session", status: 401, request: { path: "/refused/unauthenticated" } },
  { name: "a page that is forbidden", status: 403, request: { path: "/refused/forbidden" } },
  {
    name: "an invalid path",
    status: 400,
    request: { path: "/a%00" },
    options: { answeredByHost: "router", hostDependent: true },
  },
  { name: "a route", status: 201, request: { method: "POST", path: "/hooks/echo", body: "x" } },
  { name: "a route that throws", status: 500, request: { method: "POST", path: "/hooks/broken" } },
  { name: "the health check", status: 200, request: { path: "/healthz" } },
  { name: "the readiness check", status: 200, request: { path: "/readyz" } },
  { name: "a call", status: 200, request: callRequest("ping") },
  { name: "a stream", status: 200, request: callRequest("countdown") },
  { name: "a stream that throws", status: 200, request: callRequest("breaking", { kind: "rpc" }) },
  { name: "a GET of a function", status: 405, request: { path: "/__web/rpc/ping" } },
  {
    name: "a call with another content type",
    status: 415,
    request: callRequest("ping", {}, { "content-type": "text/plain" }),
  },
  { name: "a call from another site", status: 403, request: callRequest("ping", {}, { origin: "null" }) },
  { name: "a call of an unknown function", status: 404, request: callRequest("nowhere") },
  { name: "a call that requires a session", status: 401, request: callRequest("secret") },
  {
    name: "a body that is too large",
    status: 413,
    request: { ...callRequest("echo"), body: " ".repeat(1024 * 1024 + 1) },
    options: { answeredByHost: "body-parser", hostDependent: true },
  },
  { name: "a call with invalid arguments", status: 422, request: callRequest("add") },
  { name: "a call over its time limit", status: 504, request: callRequest("late") },
  { name: "a call that throws", status: 500, request: callRequest("crash", { password: "x" }) },
  { name: "a call over the rate limit", status: 429, request: rateLimitedRequest, options: { variant: "rate" } },
];

async function conditionalRequest(target: Target): Promise<WireRequest> {
  const { headers } = await send(target, { path: "/robots.txt" });
  return { path: "/robots.txt", headers: { "if-none-match": headers.get("etag") ?? "none" } };
}

async function scriptRequest(target: Target): Promise<WireRequest> {
  const { text } = await send(target, { path: "/" });
  const [, path = ""] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
  return { path: path.slice(target.base.length) };
}

async function rateLimitedRequest(target: Target): Promise<WireRequest> {
  const client = { "x-forwarded-for": "10.1.0.1" };
  for (let call = 0; call < 4; call++) await send(target, callRequest("ping", {}, client));
  return callRequest("ping", {}, client);
}

async function requestWith(
  { request }: ResponseKind,
  target: Target,
  headers: Readonly<Record<string, string>>,
): Promise<WireRequest> {
  const original = typeof request === "function" ? await request(target) : request;
  return { ...original, headers: { ...original.headers, ...headers } };
}

const keepsIds = (kind: ResponseKind): WireCase =>
  wireCase(
    `returns the X-Request-Id and the trace id of the request: ${kind.name}, ${kind.status}`,
    async (target) => {
      const ids = { "x-request-id": "a-Z0.9_1", traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` };
      const { status, headers } = await send(target, await requestWith(kind, target, ids));
      assert.equal(status, kind.status);
      assert.equal(headers.get("x-request-id"), "a-Z0.9_1");
      const [, traceId, spanId, flags] = (headers.get("traceparent") ?? "").split("-");
      assert.deepEqual([traceId, flags], [TRACE_ID, "01"]);
      assert.notEqual(spanId, PARENT_ID);
    },
    kind.options,
  );

const createsIds = (kind: ResponseKind): WireCase =>
  wireCase(
    `creates X-Request-Id and traceparent for a request without them: ${kind.name}, ${kind.status}`,
    async (target) => {
      const first = await send(target, await requestWith(kind, target, {}));
      const second = await send(target, await requestWith(kind, target, {}));
      assert.deepEqual([first.status, second.status], [kind.status, kind.status]);
      assert.match(first.headers.get("x-request-id") ?? "", /^[0-9a-f]{32}$/);
      for (const name of ["x-request-id", "traceparent"])
        assert.notEqual(first.headers.get(name), second.headers.get(name));
    },
    kind.options,
  );

const INVALID_IDS = ["", " ", "a b", "a".repeat(129), 'x","forged":"', "<script>", "a/b", "é"];
const INVALID_TRACEPARENTS = [
  "",
  "x",
  `ff-${TRACE_ID}-${PARENT_ID}-01`,
  `00-${"0".repeat(32)}-${PARENT_ID}-01`,
  `00-${TRACE_ID}-${"0".repeat(16)}-01`,
  `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`,
  `00-${TRACE_ID}-${PARENT_ID}-01-more`,
  `00-${TRACE_ID}-${PARENT_ID}`,
];

export const idCases: readonly WireCase[] = [
  ...RESPONSE_KINDS.flatMap((kind) => [keepsIds(kind), createsIds(kind)]),
  wireCase("accepts a request id of 128 characters", async (target) => {
    const id = "a".repeat(128);
    assert.equal((await expectResult(target, "request_info", {}, { "x-request-id": id })).value.id, id);
  }),
  ...INVALID_IDS.map((id) =>
    wireCase(
      `replaces the invalid request id ${JSON.stringify(id.slice(0, 20))}`,
      async (target) => {
        const { headers, value } = await expectResult(target, "request_info", {}, { "x-request-id": id });
        assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f]{32}$/);
        assert.equal(value.id, headers.get("x-request-id"));
      },
      { hostDependent: id === "é" },
    ),
  ),
  ...INVALID_TRACEPARENTS.map((traceparent) =>
    wireCase(`starts a new trace for the invalid traceparent ${JSON.stringify(traceparent)}`, async (target) => {
      const { headers } = await expectResult(target, "ping", {}, { traceparent });
      assert.doesNotMatch(headers.get("traceparent") ?? "", new RegExp(TRACE_ID));
    }),
  ),
  wireCase("continues the trace of a traceparent of a later version in version 00", async (target) => {
    const traceparent = `cc-${TRACE_ID}-${PARENT_ID}-ff-more`;
    const { headers } = await expectResult(target, "ping", {}, { traceparent });
    assert.match(headers.get("traceparent") ?? "", new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
  }),
  wireCase("sets no cookie unless the application sets one", async (target) => {
    for (const request of [{ path: "/" }, { path: "/nowhere" }, callRequest("ping")]) {
      assert.equal(cookieHeader(await send(target, request)), "");
    }
  }),
];
