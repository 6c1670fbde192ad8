/**
 * Calls of a built server that exceed their time limit, what happens to them afterwards, and where `request` and
 * `session` are available. The server runs in a process of its own.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callFunction, sendCall } from "#test/call-function";
import { buildFaultApp, type FaultApp } from "#test/fault-app";
import type { RunningServer } from "#test/run-tsweb";

let faults: FaultApp;
let server: RunningServer;

beforeAll(async () => {
  faults = await buildFaultApp();
  server = await faults.start();
});

afterAll(async () => {
  const code = await server?.stop();
  faults?.remove();
  expect(code).toBe(0);
});

let calls = 0;
const nextKey = () => `call ${++calls}`;
const readEvents = (key: string) => callFunction<string[]>(server.address, "events_of", { key });

/** Sends a call, and returns its response and its duration in milliseconds. */
async function timed(name: string, args: object) {
  const startMs = performance.now();
  const { status, text } = await sendCall(server.address, name, args);
  return { status, body: JSON.parse(text), ms: performance.now() - startMs };
}

const LIMITS = [
  ["of the application", "default_limit", 1],
  ["of the function", "short_limit", 0.2],
] as const;

describe.each(LIMITS)("the time limit %s", (_, name, seconds) => {
  it("responds with 504 within 100 ms after the limit, and aborts the signal", async () => {
    await Promise.all([callFunction(server.address, "ping"), callFunction(server.address, "ping")]); // opens both connections
    // The machine can delay one of the responses: then both are measured again.
    await vi.waitFor(async () => {
      const key = nextKey();
      // A timer of the same length in the same process shows how late timers are on this machine at the moment.
      const [late, timer] = await Promise.all([
        timed(name, { key, seconds: seconds + 0.5, end: "resolves" }),
        timed("long_limit", { key: nextKey(), seconds, end: "resolves" }),
      ]);
      expect(timer.status).toBe(200);
      expect(late).toMatchObject({
        status: 504,
        body: { error: { code: "timeout", message: `The call exceeded its time limit of ${seconds} s.`, details: {} } },
      });
      expect(late.ms).toBeGreaterThanOrEqual(seconds * 1000 - 5);
      expect(late.ms).toBeLessThan(timer.ms + 100);
      expect(await readEvents(key)).toEqual(["aborted: timeout"]);
    }, 30_000);
  });

  it("does not affect a call that takes less time", async () => {
    const key = nextKey();
    expect(await callFunction(server.address, name, { key, seconds: seconds / 2, end: "resolves" })).toBe("done");
    // After the time of the limit, the completed call still has no further event.
    await callFunction(server.address, "long_limit", { key: nextKey(), seconds, end: "resolves" });
    expect(await readEvents(key)).toEqual(["in time"]);
  });
});

it("the time limit of a function can be longer than that of the application", async () => {
  expect(await callFunction(server.address, "long_limit", { key: nextKey(), seconds: 1.2, end: "resolves" })).toBe(
    "done",
  );
});

describe("a call after its time limit", () => {
  it.each([
    ["resolves", []],
    ["rejects", []],
    ["signs in", [expect.stringContaining("cannot be set: the headers of the response have already been sent")]],
  ])("is ignored when it %s", async (end, more) => {
    const key = nextKey();
    const { status, headers } = await sendCall(server.address, "short_limit", { key, seconds: 0.3, end });
    expect(status).toBe(504);
    expect(headers.getSetCookie()).toEqual([]);
    const expected = ["aborted: timeout", "late", ...more];
    await vi.waitFor(async () => expect(await readEvents(key)).toEqual(expected), 30_000);
    expect(await callFunction(server.address, "ping")).toBe("pong");
  });

  it("is reported as timed out when it rejects at the moment of the limit", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => sendCall(server.address, "reject_at_limit")));
    for (const { status, text } of responses) expect([status, JSON.parse(text).error.code]).toEqual([504, "timeout"]);
  });

  it("is not logged as an error", () => {
    expect(server.output()).not.toMatch(/"level":"error"|rejected after the time limit|Unhandled|unhandled/);
  });
});

/** In every kind of continuation, `request` and `session` must be those of its own request. */
describe("request and session", () => {
  const signIn = async (sub: string) => {
    const { headers } = await sendCall(server.address, "sign_in", { sub });
    return headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");
  };

  it("are those of the request in every kind of continuation", async () => {
    const continuations = await callFunction<string[]>(server.address, "continuation_names");
    expect(continuations.length).toBeGreaterThan(10);
    const cookies = await Promise.all(["ada", "grace"].map(signIn));
    const calls = [...continuations, ...continuations, ...continuations].flatMap((name, at) =>
      ["ada", "grace"].map((sub, user) => ({
        name,
        sub,
        id: `continuation-${at}-${user}`,
        cookie: cookies[user] ?? "",
      })),
    );
    await Promise.all(
      calls.map(async ({ name, sub, id, cookie }) => {
        const headers = { "x-request-id": id, cookie };
        const context = await callFunction(server.address, "run_continuation", { name }, headers);
        expect(context, name).toBe(`${id} of ${sub}`);
      }),
    );
  });

  it.each([
    ["sync_generator", 4],
    ["async_generator", 5],
  ])("are available in every step of a %s", async (name, count) => {
    const cookie = await signIn("ada");
    await Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        const id = `steps-${name}-${at}`;
        const { text } = await sendCall(server.address, name, {}, { "x-request-id": id, cookie });
        const lines = text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
        const chunk = `${id} of ada`;
        expect(lines).toEqual([...Array.from({ length: count }, () => ({ chunk })), { done: true }]);
      }),
    );
  });

  it("are available in a timer that fires after the response was sent", async () => {
    await callFunction(server.address, "start_timer", {}, { "x-request-id": "after-response" });
    await vi.waitFor(
      async () => expect(await callFunction(server.address, "timer_contexts")).toEqual(["after-response of nobody"]),
      30_000,
    );
  });

  it("throw outside a request, with a message about where they can be used", async () => {
    const messages = await callFunction<Record<string, string>>(server.address, "messages_outside_requests");
    expect(Object.keys(messages)).toHaveLength(24);
    for (const [misuse, message] of Object.entries(messages)) {
      const [name = ""] = misuse.split(" ");
      expect(message, misuse).toContain(`${name} was used outside a request. It works inside`);
    }
  });
});

describe("the log of an internal error", () => {
  const SECRETS = ["hunter2-password", "4111111111111111", "secret-of-the-header", "secret-of-the-cookie"];

  /** Calls a function that throws, and returns the log entry of the error. */
  async function callAndReadLog(name: string, args: object, id: string) {
    const { headers } = await sendCall(server.address, "sign_in", { sub: "ada" });
    const session = headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const {
      status,
      headers: responseHeaders,
      text,
    } = await sendCall(server.address, name, args, {
      "x-request-id": id,
      authorization: "Bearer secret-of-the-header",
      "x-csrf-token": "secret-of-the-header",
      cookie: `${session}; other=secret-of-the-cookie`,
    });
    expect(status).toBe(500);
    expect(responseHeaders.get("x-request-id")).toBe(id);
    expect(JSON.parse(text).error).toEqual({ code: "internal", message: expect.stringContaining(id), details: {} });
    // The log arrives through another pipe than the response, possibly later.
    const lines = await vi.waitFor(() => {
      const entries = server
        .output()
        .split("\n")
        .slice(0, -1)
        .filter((line) => line.includes(`"id":"${id}"`));
      expect(entries).toHaveLength(1);
      return entries;
    }, 30_000);
    const [line = ""] = lines;
    for (const secret of [...SECRETS, session.slice(session.indexOf("=") + 1)]) expect(line).not.toContain(secret);
    return JSON.parse(line);
  }

  it("contains the stacks of the error and its cause and the request id, and no secret", async () => {
    const args = { password: "hunter2-password", card: { number: "4111111111111111" } };
    const line = await callAndReadLog("crash", args, "failed-call");
    expect(line).toMatchObject({ level: "error", id: "failed-call", msg: "The call of crash failed" });
    expect(line.err).toMatchObject({ type: "Error", message: "The order failed", status: 502 });
    expect(line.err.stack).toMatch(/Error: The order failed\n.*calls\.server\.ts:\d+:\d+/);
    expect(line.err.cause).toMatchObject({ message: "connection refused", code: "ECONNREFUSED" });
    expect(line.err.cause.stack).toMatch(/calls\.server\.ts:\d+:\d+/);
  });

  it("contains only the type of a thrown value that is not an Error", async () => {
    const line = await callAndReadLog("throw_object", { password: "hunter2-password" }, "thrown-object");
    expect(line.err).toEqual({ type: "Object", message: "A value of type Object was thrown instead of an Error." });
  });
});
