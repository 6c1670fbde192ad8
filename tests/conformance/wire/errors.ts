/** Test cases: the responses to errors that a function throws. @see docs/protocol.md 5.2 to 5.4 */
import assert from "node:assert/strict";
import type { ErrorCode } from "../../../src/errors.ts";
import { callRequest, expectError, expectResult, type WireCase, wireCase } from "./exchange.ts";

/** The status of each code. @see docs/protocol.md 5.3 */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  validation_error: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  timeout: 504,
  internal: 500,
};

const respondsWith = (
  title: string,
  fn: string,
  args: unknown,
  expected: Parameters<typeof expectError>[2],
): WireCase =>
  wireCase(title, async (target) => {
    const { text, error, headers } = await expectError(target, callRequest(fn, args), expected);
    assert.doesNotMatch(text, /hunter2|crashed|at .*\.(ts|mjs)|secret/);
    if (expected.code === "internal" && !expected.message) {
      assert.match(error.message, new RegExp(headers.get("x-request-id") ?? "none"));
    }
  });

export const errorCases: readonly WireCase[] = [
  ...Object.entries(STATUS).map(([code, status]) =>
    respondsWith(
      `responds to an RPCError of code ${code} with status ${status}, its message and its details`,
      "refuse",
      { code },
      { status, code, message: /^Refused\.$/, details: { why: code } },
    ),
  ),
  respondsWith(
    "responds to a NotFound of a function with 404 not_found",
    "missing",
    {},
    { status: 404, code: "not_found" },
  ),
  respondsWith(
    "responds to a ValueError with 422 validation_error and its message",
    "value_error",
    {},
    { status: 422, code: "validation_error", message: /^Not that value\.$/, details: {} },
  ),
  respondsWith(
    "responds to a TypeError with 422 validation_error and its message",
    "type_error",
    {},
    { status: 422, code: "validation_error", message: /^Not that type\.$/, details: {} },
  ),
  respondsWith(
    "responds to any other error with 500 internal and the request id, without details of the error [RESPONSE-10]",
    "crash",
    { password: "hunter2" },
    { status: 500, code: "internal", details: {} },
  ),
  respondsWith(
    "responds with 500 internal if the result cannot be serialised",
    "cycle",
    {},
    { status: 500, code: "internal", details: {} },
  ),
  wireCase("responds with 504 timeout after rpc_timeout, and discards the late result", async (target) => {
    await expectError(target, callRequest("late"), { status: 504, code: "timeout" });
    const countRuns = async () => (await expectResult(target, "runs_of", { name: "late" })).value;
    while ((await countRuns()) === 0);
    assert.equal((await expectResult(target, "ping")).value, "pong");
  }),
];
