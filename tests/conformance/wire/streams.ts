/** Test cases: streams. @see docs/protocol.md 6.1 and 6.2 */
import assert from "node:assert/strict";
import {
  type CaseOptions,
  callRequest,
  cookieHeader,
  expectError,
  expectResult,
  send,
  signIn,
  type Target,
  type WireCase,
  type WireRequest,
  wireCase,
} from "./exchange.ts";

/** Opens a stream, asserts its headers, and returns the response with its parsed lines. */
async function readStream(target: Target, request: WireRequest) {
  const response = await send(target, request);
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  assert.equal(response.headers.get("cache-control"), "private, no-cache");
  assert.equal(response.headers.get("x-accel-buffering"), "no");
  // A runtime that frames responses itself may send the length of a stream that ends at once, as Bun does.
  if (response.closes !== null) assert.equal(response.headers.get("content-length"), null);
  assert.match(response.text, /\n$/);
  return {
    ...response,
    lines: response.text
      .slice(0, -1)
      .split("\n")
      .map((line) => JSON.parse(line)),
  };
}

const sends = (
  title: string,
  fn: string,
  args: unknown,
  expected: readonly unknown[],
  options?: CaseOptions,
): WireCase =>
  wireCase(
    title,
    async (target) => assert.deepEqual((await readStream(target, callRequest(fn, args))).lines, expected),
    options,
  );

const DONE = { done: true };
const chunks = (...values: readonly unknown[]) => values.map((chunk) => ({ chunk }));

export const streamCases: readonly WireCase[] = [
  sends("sends one line for each value, then done", "countdown", {}, [...chunks(3, 2, 1), DONE], {
    hostDependent: true,
  }),
  sends("coerces the arguments of a stream", "countdown", { from: "2" }, [...chunks(2, 1), DONE]),
  sends("sends the serialised values of a synchronous generator", "plain", {}, [
    ...chunks({ at: "1970-01-01T00:00:00.000Z" }, null, "a\nb"),
    DONE,
  ]),
  sends("sends only done for a stream without values", "silent", {}, [DONE], { hostDependent: true }),
  sends("does not apply rpc_timeout to a stream", "slow_stream", {}, [...chunks("late"), DONE], {
    hostDependent: true,
  }),
  ...[0, 1, 3].map((after) =>
    sends(`sends an RPCError as the last line after ${after} values`, "breaking", { kind: "rpc", after }, [
      ...chunks(...Array.from({ length: after }, (_, n) => n + 1)),
      { error: { code: "conflict", message: "Taken.", details: { by: "ada" } } },
    ]),
  ),
  ...["value", "type"].map((kind) =>
    sends(`sends a ${kind === "value" ? "ValueError" : "TypeError"} as validation_error`, "breaking", { kind }, [
      { chunk: 1 },
      { error: { code: "validation_error", message: `Not that ${kind}.`, details: {} } },
    ]),
  ),
  wireCase("sends any other error as internal with the request id, without details of the error", async (target) => {
    const response = await readStream(
      target,
      callRequest("breaking", { kind: "other" }, { "x-request-id": "this-one" }),
    );
    const [first, last] = response.lines;
    assert.deepEqual(first, { chunk: 1 });
    assert.deepEqual([last.error.code, last.error.details], ["internal", {}]);
    assert.match(last.error.message, /this-one/);
    assert.doesNotMatch(response.text, /secret/);
  }),
  wireCase("rejects invalid arguments of a stream with 422", async (target) => {
    await expectError(target, callRequest("countdown", { from: "x" }), { status: 422, code: "validation_error" });
  }),
  wireCase("rejects a stream with auth_required without a session with 401", async (target) => {
    await expectError(target, callRequest("secret_stream"), { status: 401, code: "unauthenticated", closes: true });
    const headers = await signIn(target);
    assert.deepEqual((await readStream(target, callRequest("secret_stream", {}, headers))).lines, [
      ...chunks("ada"),
      DONE,
    ]);
  }),
  wireCase("sets the session cookie if a stream signs in before its first value", async (target) => {
    const response = await readStream(target, callRequest("login_stream", { sub: "eve" }, { "x-request-id": "id-1" }));
    assert.deepEqual(response.lines, [...chunks("eve", "id-1"), DONE]);
    assert.equal((await expectResult(target, "whoami", {}, { cookie: cookieHeader(response) })).value.sub, "eve");
  }),
];
