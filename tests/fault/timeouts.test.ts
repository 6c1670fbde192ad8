/**
 * Calls of a built server that take longer than they may, in a process of its own, and what becomes
 * of them afterwards; and where `request` and `session` are to be had.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { buildFaultApp, callFunction, type FaultApp, sendCall } from "#test/fault-app";
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
const afterwards = (key: string) => callFunction<string[]>(server, "events_of", { key });

/** Sends a call, and gives the answer with the time it took. */
async function timed(name: string, args: object) {
  const began = performance.now();
  const { status, text } = await sendCall(server, name, args);
  return { status, body: JSON.parse(text), ms: performance.now() - began };
}

const LIMITS = [
  ["of the application", "default_limit", 1],
  ["of the function", "short_limit", 0.2],
] as const;

describe.each(LIMITS)("the time limit %s", (_, name, seconds) => {
  it("answers 504 within 100 ms of it, and aborts the signal", async () => {
    await Promise.all([callFunction(server, "ping"), callFunction(server, "ping")]); // both connections are there
    const key = nextKey();
    // A timer of the same length in the same process tells how late this machine is just now.
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
    expect(await afterwards(key)).toEqual(["aborted: timeout"]);
  });

  it("lets through what takes less", async () => {
    const key = nextKey();
    expect(await callFunction(server, name, { key, seconds: seconds / 2, end: "resolves" })).toBe("done");
    // Once its time would have been over, nothing has happened to it.
    await callFunction(server, "long_limit", { key: nextKey(), seconds, end: "resolves" });
    expect(await afterwards(key)).toEqual(["in time"]);
  });
});

it("a function's own time may be longer than the application's", async () => {
  expect(await callFunction(server, "long_limit", { key: nextKey(), seconds: 1.2, end: "resolves" })).toBe("done");
});

describe("what a call still does after its time", () => {
  it.each([
    ["resolves", []],
    ["rejects", []],
    ["signs in", [expect.stringContaining("cannot be set: the headers of the response have already been sent")]],
  ])("%s: it is dropped", async (end, more) => {
    const key = nextKey();
    const { status, headers } = await sendCall(server, "short_limit", { key, seconds: 0.3, end });
    expect(status).toBe(504);
    expect(headers.getSetCookie()).toEqual([]);
    const wanted = ["aborted: timeout", "late", ...more];
    await vi.waitFor(async () => expect(await afterwards(key)).toEqual(wanted), 5_000);
    expect(await callFunction(server, "ping")).toBe("pong");
  });

  it("a rejection in the moment of the limit is dropped, and the limit told", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendCall(server, "reject_at_limit")));
    for (const { status, text } of answers) expect([status, JSON.parse(text).error.code]).toEqual([504, "timeout"]);
  });

  it("is no failure in the log", () => {
    expect(server.output()).not.toMatch(/"level":"error"|rejected after the time limit|Unhandled|unhandled/);
  });
});

/** What a way of going on must see: the request's own id, and its own visitor. */
describe("request and session", () => {
  const visitor = async (sub: string) => {
    const { headers } = await sendCall(server, "sign_in", { sub });
    return headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");
  };

  it("are there in every way that a function goes on, each visitor's own", async () => {
    const ways = await callFunction<string[]>(server, "continuation_names");
    expect(ways.length).toBeGreaterThan(10);
    const cookies = await Promise.all(["ada", "grace"].map(visitor));
    const asked = [...ways, ...ways, ...ways].flatMap((way, at) =>
      ["ada", "grace"].map((sub, who) => ({ way, sub, id: `way-${at}-${who}`, cookie: cookies[who] ?? "" })),
    );
    await Promise.all(
      asked.map(async ({ way, sub, id, cookie }) => {
        const seen = await callFunction(server, "run_continuation", { name: way }, { "x-request-id": id, cookie });
        expect(seen, way).toBe(`${id} of ${sub}`);
      }),
    );
  });

  it.each([
    ["sync_generator", 4],
    ["async_generator", 5],
  ])("are there at every step of a generator: %s", async (name, count) => {
    const cookie = await visitor("ada");
    await Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        const id = `steps-${name}-${at}`;
        const { text } = await sendCall(server, name, {}, { "x-request-id": id, cookie });
        const lines = text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
        const chunk = `${id} of ada`;
        expect(lines).toEqual([...Array.from({ length: count }, () => ({ chunk })), { done: true }]);
      }),
    );
  });

  it("are there in a timer that goes off when the call has been answered", async () => {
    await callFunction(server, "start_timer", {}, { "x-request-id": "left-behind" });
    await vi.waitFor(
      async () => expect(await callFunction(server, "timer_contexts")).toEqual(["left-behind of nobody"]),
      5_000,
    );
  });

  it("say clearly where they are not: outside a request", async () => {
    const messages = await callFunction<Record<string, string>>(server, "messages_outside_requests");
    expect(Object.keys(messages)).toHaveLength(24);
    for (const [misuse, message] of Object.entries(messages)) {
      const [name = ""] = misuse.split(" ");
      expect(message, misuse).toContain(`${name} was used outside a request. It works inside`);
    }
  });
});

describe("the log of an internal error", () => {
  const SECRETS = ["hunter2-password", "4111111111111111", "secret-of-the-header", "secret-of-the-cookie"];

  /** Calls what fails, and gives the line of the log and the cookie it was sent. */
  async function crashed(name: string, args: object, id: string) {
    const { headers } = await sendCall(server, "sign_in", { sub: "ada" });
    const session = headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const {
      status,
      headers: answered,
      text,
    } = await sendCall(server, name, args, {
      "x-request-id": id,
      authorization: "Bearer secret-of-the-header",
      "x-csrf-token": "secret-of-the-header",
      cookie: `${session}; other=secret-of-the-cookie`,
    });
    expect(status).toBe(500);
    expect(answered.get("x-request-id")).toBe(id);
    expect(JSON.parse(text).error).toEqual({ code: "internal", message: expect.stringContaining(id), details: {} });
    // The log comes another way than the answer, and perhaps later.
    const lines = await vi.waitFor(() => {
      const found = server
        .output()
        .split("\n")
        .slice(0, -1)
        .filter((line) => line.includes(`"id":"${id}"`));
      expect(found).toHaveLength(1);
      return found;
    }, 5_000);
    const [line = ""] = lines;
    for (const secret of [...SECRETS, session.slice("web_session=".length)]) expect(line).not.toContain(secret);
    return JSON.parse(line);
  }

  it("has the stack, of its cause too, and the answer's id, and nothing that is secret", async () => {
    const args = { password: "hunter2-password", card: { number: "4111111111111111" } };
    const line = await crashed("crash", args, "the-one-that-failed");
    expect(line).toMatchObject({ level: "error", id: "the-one-that-failed", msg: "The call of crash failed" });
    expect(line.err).toMatchObject({ type: "Error", message: "The order failed", status: 502 });
    expect(line.err.stack).toMatch(/Error: The order failed\n.*calls\.server\.ts:\d+:\d+/);
    expect(line.err.cause).toMatchObject({ message: "connection refused", code: "ECONNREFUSED" });
    expect(line.err.cause.stack).toMatch(/calls\.server\.ts:\d+:\d+/);
  });

  it("tells what was thrown in its place, by its kind alone", async () => {
    const line = await crashed("throw_object", { password: "hunter2-password" }, "the-odd-one");
    expect(line.err).toEqual({ type: "Object", message: "A value of type Object was thrown instead of an Error." });
  });
});
