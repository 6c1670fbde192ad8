/**
 * Errors that nobody catches. With an unawaited promise that rejects, the server logs the error and continues to serve. An
 * uncaught exception ends it with one line of the log.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProcesses } from "#test/built-processes";
import { type RunningServer, runProgram, startBuilt, startDev } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

let site: TestProject;

beforeAll(async () => {
  site = await buildProcesses();
});

afterAll(() => site?.remove());

async function call({ address }: RunningServer, name: string): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${address}/__web/rpc/${name}`, { method: "POST", headers, body: '{"args":{}}' });
  return (await response.json()).result;
}

/** Expects that a server logs rejections that nobody handles, and continues to serve. */
async function checkSurvival(server: RunningServer): Promise<void> {
  expect(await call(server, "reject_without_await")).toBe("returned");
  expect(await call(server, "publish_without_await")).toBe("returned");
  await expect.poll(() => server.output()).toMatch(/Unawaited failure.*calls\.server\.ts.*channel/s);
  expect(server.output()).toContain("Unhandled promise rejection. Await the promise, or catch its error");
  expect(await call(server, "ping")).toBe("pong");
}

it("a built server survives an unhandled rejection, and logs it with its stack", async () => {
  const server = await startBuilt(site.dir, { WEB_ENV: "development" });
  try {
    await checkSurvival(server);
  } finally {
    expect(await server.stop()).toBe(0);
  }
});

describe("the development server", () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startDev(site.dir);
  });

  afterAll(async () => {
    expect(await server?.stop()).toBe(0);
  });

  it("survives an unhandled rejection, and logs it with its stack", () => checkSurvival(server));

  it("prints where a message without await cannot be sent, and where a text is thrown", async () => {
    expect(await call(server, "publish_cycle_without_await")).toBe("returned");
    await expect
      .poll(() => server.output())
      .toMatch(/publish to x: self cannot be sent: it contains itself\.\nsrc\/calls\.server\.ts:21:12\n/);
    expect(await call(server, "throw_text")).toBeUndefined();
    await expect
      .poll(() => server.output())
      .toMatch(/The call of throw_text failed.*\nThrown value: no stock\nThis value .*\nsrc\/calls\.server\.ts:25:7\n/);
    expect(await call(server, "reject_later")).toBe("returned");
    await expect
      .poll(() => server.output())
      .toMatch(/Unhandled promise rejection.*\nThrown value: too late\n.*\nsrc\/calls\.server\.ts:28:32\n/);
  });
});

/** Returns the lines of an output that are JSON, and those that are not. */
function linesOf(output: string): { readonly json: unknown[]; readonly others: string[] } {
  const lines = output.split("\n").filter((line) => line !== "");
  const isJson = (line: string) => line.startsWith("{");
  return { json: lines.filter(isJson).map((line) => JSON.parse(line)), others: lines.filter((line) => !isJson(line)) };
}

const PRODUCTION = { WEB_ENV: "production", WEB_AUTH_SECRET: randomBytes(32).toString("hex"), WEB_LOG_LEVEL: "error" };

it("a server in production ends with status 1 and one line of JSON after an uncaught exception, which is reported", async () => {
  const server = await startBuilt(site.dir, { ...PRODUCTION, WEB_LOG_LEVEL: "info", REPORT_ERRORS: "1" });
  expect(await call(server, "crash")).toBe("returned");
  expect(await server.exited).toBe(1);
  const { json, others } = linesOf(server.output());
  expect(json.filter((line) => (line as { level: string }).level === "error")).toEqual([
    {
      level: "error",
      time: expect.any(String),
      pid: expect.any(Number),
      err: {
        type: "RangeError",
        message: "Thrown in a timer",
        stack: expect.stringContaining("src/calls.server.ts"),
      },
      msg: "Uncaught exception. The process ends with status 1",
    },
  ]);
  expect(others).toEqual(["reported background: RangeError: Thrown in a timer"]);
});

it("a server in production that fails while its modules load writes one line of JSON", async () => {
  const { code, output } = await runProgram(site.dir, ["dist/server.mjs"], { ...PRODUCTION, FAIL_AT_START: "1" });
  expect(code).toBe(1);
  expect(linesOf(output)).toEqual({
    json: [
      {
        level: "error",
        time: expect.any(String),
        pid: expect.any(Number),
        err: { type: "TypeError", message: "No database", stack: expect.stringContaining("src/app.ts") },
        msg: "The application could not be started",
      },
    ],
    others: [],
  });
});
