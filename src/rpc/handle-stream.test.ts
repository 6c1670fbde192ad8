import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { linesOf, readerOf, streamingApp, textOf } from "#test/streaming-app";
import { RPCError, ValueError } from "../errors.ts";
import { redirect, request } from "../http/index.ts";
import { session } from "../session/index.ts";

let steps: string[] = [];
let log: MockInstance<typeof console.error>;
beforeEach(() => {
  steps = [];
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

describe("a stream over HTTP", () => {
  it("has one line for each value, and then done", async () => {
    const app = streamingApp(function* () {
      yield 1;
      yield { at: new Date(0), not: undefined };
      yield undefined;
      yield "a\nb\u2028";
      return "not sent";
    });
    const response = await callOverHttp(app, "stream");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect(await linesOf(response)).toEqual([
      { chunk: 1 },
      { chunk: { at: "1970-01-01T00:00:00.000Z" } },
      { chunk: null },
      { chunk: "a\nb\u2028" },
      { done: true },
    ]);
  });

  it("is the same for async generators and for yielded promises", async () => {
    const asynchronous = streamingApp(async function* () {
      yield await Promise.resolve(1);
      yield Promise.resolve(2);
    });
    const plain = streamingApp(function* () {
      yield Promise.resolve(1);
      yield 2;
    });
    for (const app of [asynchronous, plain]) {
      expect(await linesOf(callOverHttp(app, "stream"))).toEqual([{ chunk: 1 }, { chunk: 2 }, { done: true }]);
    }
  });

  it("can be empty", async () => {
    expect(
      await linesOf(
        callOverHttp(
          streamingApp(function* () {}),
          "stream",
        ),
      ),
    ).toEqual([{ done: true }]);
  });

  it("receives coerced arguments", async () => {
    const count = compiledServer(
      "count",
      function* (to: number) {
        for (let n = 1; n <= to; n++) yield n;
      },
      { stream: true, params: { to: "int" } },
    );
    expect(await linesOf(callOverHttp(createTestApp({ count }), "count", { to: "2" }))).toEqual([
      { chunk: 1 },
      { chunk: 2 },
      { done: true },
    ]);
  });
});

describe("a call of a streaming function", () => {
  it("is rejected with 422 or 401 before the function runs, for invalid arguments or a missing sign-in", async () => {
    const fn = function* () {
      steps.push("ran");
      yield 1;
    };
    const open = await callOverHttp(streamingApp(fn), "stream", { extra: 1 });
    expect(open.status).toBe(422);
    expect(open.headers.get("content-type")).toBe("application/json");
    const closed = await callOverHttp(streamingApp(fn, { auth_required: true }), "stream");
    expect(closed.status).toBe(401);
    expect(steps).toEqual([]);
  });
});

describe("an error of a stream", () => {
  it.each([
    [
      new RPCError("conflict", "Taken.", { by: "ada" }),
      { code: "conflict", message: "Taken.", details: { by: "ada" } },
    ],
    [new ValueError("No."), { code: "validation_error", message: "No.", details: {} }],
    [new TypeError("No."), { code: "validation_error", message: "No.", details: {} }],
  ])("becomes an error line, before the first value and after it: %s", async (error, body) => {
    // biome-ignore lint/correctness/useYield: it throws before its first yield
    const early = streamingApp(function* () {
      throw error;
    });
    expect(await linesOf(callOverHttp(early, "stream"))).toEqual([{ error: body }]);
    const late = streamingApp(async function* () {
      yield 1;
      throw error;
    });
    expect(await linesOf(callOverHttp(late, "stream"))).toEqual([{ chunk: 1 }, { error: body }]);
  });

  it("becomes internal for all other errors, with the stack only in the log", async () => {
    const error = new Error("the password is hunter2");
    const app = streamingApp(function* () {
      yield 1;
      throw error;
    });
    const [, last] = await linesOf(callOverHttp(app, "stream", {}, { headers: { "x-request-id": "this-one" } }));
    expect(last).toMatchObject({ error: { code: "internal", details: {} } });
    expect(JSON.stringify(last)).toContain("this-one");
    expect(JSON.stringify(last)).not.toContain("hunter2");
    expect(log).toHaveBeenCalledWith(error);
  });

  it("is sent with empty details if they cannot be serialised", async () => {
    // biome-ignore lint/correctness/useYield: it throws before its first yield
    const app = streamingApp(function* () {
      throw new RPCError("conflict", "Taken.", { later: Promise.resolve() });
    });
    expect(await linesOf(callOverHttp(app, "stream"))).toEqual([
      { error: { code: "conflict", message: "Taken.", details: {} } },
    ]);
  });

  it("closes the generator if a value cannot be serialised", async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const app = streamingApp(function* () {
      try {
        yield 1;
        yield cycle;
        steps.push("after");
      } finally {
        steps.push("finally");
      }
    });
    expect(await linesOf(callOverHttp(app, "stream"))).toMatchObject([{ chunk: 1 }, { error: { code: "internal" } }]);
    expect(steps).toEqual(["finally"]);
  });
});

describe("the back-pressure of a stream", () => {
  it("lets the function run one step ahead of the reader", async () => {
    const app = streamingApp(function* () {
      for (let n = 1; n <= 5; n++) {
        steps.push(`step ${n}`);
        yield n;
      }
    });
    const lines = readerOf(await callOverHttp(app, "stream"));
    expect(steps).toEqual(["step 1"]);
    expect(textOf(await lines.read())).toBe('{"chunk":1}\n');
    expect(steps).toEqual(["step 1"]);
    expect(textOf(await lines.read())).toBe('{"chunk":2}\n');
    expect(steps).toEqual(["step 1", "step 2"]);
    await lines.cancel();
    expect(steps).toEqual(["step 1", "step 2"]);
  });
});

describe("request and session in a stream", () => {
  it("are available in every step and while the stream is closed", async () => {
    const app = streamingApp(async function* () {
      try {
        yield request.id;
        await null;
        yield request.id;
        yield request.id;
      } finally {
        steps.push(request.id);
      }
    });
    const [one, two] = await Promise.all(
      ["one", "two"].map(async (id) =>
        readerOf(await callOverHttp(app, "stream", {}, { headers: { "x-request-id": id } })),
      ),
    );
    if (!one || !two) throw new Error("The test opened two streams.");
    for (let step = 0; step < 2; step++) {
      expect(textOf(await one.read())).toBe('{"chunk":"one"}\n');
      expect(textOf(await two.read())).toBe('{"chunk":"two"}\n');
    }
    await two.cancel();
    await one.cancel();
    expect(steps).toEqual(["two", "one"]);
  });

  it("accept a sign-in before the first value and throw after it", async () => {
    const early = await callOverHttp(
      streamingApp(async function* () {
        await null;
        session.login("ada");
        yield session.user()?.sub;
      }),
      "stream",
    );
    expect(early.headers.get("set-cookie")).toMatch(/^web_session=/);
    expect(await linesOf(early)).toEqual([{ chunk: "ada" }, { done: true }]);

    const late = await callOverHttp(
      streamingApp(function* () {
        yield 1;
        try {
          session.login("ada");
        } catch (error) {
          steps.push(String(error));
        }
        yield session.user();
        request.set_cookie("a", "b");
      }),
      "stream",
    );
    expect(late.headers.has("set-cookie")).toBe(false);
    expect(await linesOf(late)).toMatchObject([{ chunk: 1 }, { chunk: null }, { error: { code: "internal" } }]);
    expect(steps).toEqual([expect.stringContaining("the headers of the response have already been sent")]);
    expect(String(log.mock.calls)).toContain("before the first yield");
  });
});

describe("a stream without a value for 15 s", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  /** Advances the time once the stream waits for it: before, the event loop may still be busy with the request. */
  async function advance(ms: number): Promise<void> {
    while (vi.getTimerCount() === 0) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(ms);
  }

  /** Returns an application whose stream waits for a promise before each of its steps. */
  function waitingApp(run: (step: () => Promise<void>) => AsyncGenerator<unknown>) {
    let proceed = () => {};
    const step = () => new Promise<void>((resolve) => (proceed = resolve));
    return { app: streamingApp(() => run(step)), proceed: () => proceed() };
  }

  it("has its headers and a space then, a space every 15 s, and a line feed with each value only", async () => {
    const { app, proceed } = waitingApp(async function* (step) {
      await step();
      yield 1;
      await step();
    });
    let isThere = false;
    const pending = callOverHttp(app, "stream").then((response) => {
      isThere = true;
      return response;
    });
    await advance(14_999);
    expect(isThere).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const response = await pending;
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
    const reader = readerOf(response);
    const chunks = [textOf(await reader.read())];
    const readNext = async (ms: number) => {
      const read = reader.read();
      if (ms > 0) await advance(ms);
      chunks.push(textOf(await read));
    };
    await readNext(15_000);
    proceed();
    await readNext(0);
    await readNext(15_000);
    await readNext(15_000);
    proceed();
    await readNext(0);
    expect(chunks).toEqual([" ", " ", '{"chunk":1}\n', " ", " ", '{"done":true}\n']);
    expect(vi.getTimerCount()).toBe(0);
    const lines = chunks.join("").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ chunk: 1 }, { done: true }]);
  });

  it("keeps a value that comes while nobody reads", async () => {
    const { app, proceed } = waitingApp(async function* (step) {
      await step();
      yield 1;
    });
    const pending = callOverHttp(app, "stream");
    await advance(15_000);
    const reader = readerOf(await pending);
    await reader.read();
    const idle = reader.read();
    await advance(15_000);
    await idle;
    proceed();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(textOf(await reader.read())).toBe('{"chunk":1}\n');
  });

  const tooLate: readonly (readonly [what: string, run: () => unknown])[] = [
    ["a redirect", () => redirect("/account")],
    ["a cookie", () => request.set_cookie("a", "b")],
    ["a sign-in", () => session.login("ada")],
    ["a sign-out", () => session.logout()],
  ];
  it.each(tooLate)("fails with %s, as after its first value", async (_, run) => {
    const { app, proceed } = waitingApp(async function* (step) {
      await step();
      const result = run();
      if (result) throw result;
      yield 1;
    });
    const pending = callOverHttp(app, "stream");
    await advance(15_000);
    const response = await pending;
    const body = response.text();
    proceed();
    expect(JSON.parse(await body)).toMatchObject({ error: { code: "internal" } });
    expect(["set-cookie", "x-redirect"].filter((name) => response.headers.has(name))).toEqual([]);
    expect(String(log.mock.calls)).toMatch(/before the first yield/i);
  });

  it("leaves no timer when its client disconnects", async () => {
    const client = new AbortController();
    const app = streamingApp(async function* () {
      await new Promise(() => undefined);
      yield 1;
    });
    const pending = callOverHttp(app, "stream", {}, { signal: client.signal });
    await advance(15_000);
    const reader = readerOf(await pending);
    await reader.read();
    void reader.read();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(1);
    client.abort();
    expect(vi.getTimerCount()).toBe(0);
  });
});
