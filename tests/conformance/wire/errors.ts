/** Rows: what functions throw, and how it is told. */
import assert from "node:assert/strict";
import { calling, type Row, refusal, result, row } from "./exchange.ts";

/** The table of the interface, "Errors". */
const STATUS = {
  validation_error: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  timeout: 504,
  internal: 500,
} as const;

const throws = (name: string, fn: string, args: unknown, wanted: Parameters<typeof refusal>[2]): Row =>
  row(name, async (site) => {
    const { text, error, headers } = await refusal(site, calling(fn, args), wanted);
    assert.doesNotMatch(text, /hunter2|crashed|at .*\.(ts|mjs)|secret/);
    if (wanted.code === "internal" && !wanted.message) {
      assert.match(error.message, new RegExp(headers.get("x-request-id") ?? "none"));
    }
  });

export const errorRows: readonly Row[] = [
  ...Object.entries(STATUS).map(([code, status]) =>
    throws(
      `RPCError ${code} is ${status}`,
      "refuse",
      { code },
      {
        status,
        code,
        message: /^Refused\.$/,
        details: { why: code },
      },
    ),
  ),
  throws("NotFound in a function is not_found", "missing", {}, { status: 404, code: "not_found" }),
  throws(
    "ValueError is validation_error with its message",
    "value_error",
    {},
    {
      status: 422,
      code: "validation_error",
      message: /^Not that value\.$/,
      details: {},
    },
  ),
  throws(
    "TypeError is validation_error with its message",
    "type_error",
    {},
    {
      status: 422,
      code: "validation_error",
      message: /^Not that type\.$/,
      details: {},
    },
  ),
  throws(
    "anything else is internal, in general words",
    "crash",
    { password: "hunter2" },
    {
      status: 500,
      code: "internal",
      details: {},
    },
  ),
  throws("a result that cannot be written is internal", "cycle", {}, { status: 500, code: "internal", details: {} }),
  row("rpc_timeout over is timeout, and a late result is dropped", async (site) => {
    await refusal(site, calling("late"), { status: 504, code: "timeout" });
    const ran = async () => (await result(site, "runs_of", { name: "late" })).value;
    while ((await ran()) === 0);
    assert.equal((await result(site, "ping")).value, "pong");
  }),
];
