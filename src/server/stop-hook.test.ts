import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import { createStartHook, runLastWork } from "./hooks.ts";

const MODULE = { ping: compiledServer("ping", () => "pong") };

afterEach(() => void vi.useRealTimers());

describe("on_stop", () => {
  it("runs once when the application is closed, and is awaited", async () => {
    const events: string[] = [];
    const app = createTestApp(MODULE, {
      async on_stop() {
        events.push("started");
        await pause(1);
        events.push("ended");
      },
    });
    await callOverHttp(app, "ping");
    expect(events).toEqual([]);
    await Promise.all([app.close(), app.close()]);
    expect(events).toEqual(["started", "ended"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("on purpose");
      },
    ],
    ["rejects", () => Promise.reject(new Error("on purpose"))],
  ])("does not keep the application from closing if it %s, which is logged", async (_, on_stop) => {
    const { log, lines } = recordedLog();
    await createTestApp(MODULE, { log, on_stop }).close();
    expect(lines).toMatchObject([{ level: "error", message: "on_stop of new App failed" }]);
  });

  it("runs after on_error has ended for the last error", async () => {
    const events: string[] = [];
    const fail = compiledServer("fail", () => {
      throw new Error("on purpose");
    });
    const options = {
      log: recordedLog().log,
      async on_error() {
        await pause(1);
        events.push("on_error");
      },
      on_stop: () => events.push("on_stop"),
    };
    const app = createTestApp({ fail }, options);
    await callOverHttp(app, "fail");
    await app.close();
    expect(events).toEqual(["on_error", "on_stop"]);
  });

  it("must be a function", () => {
    expect(() => createTestApp(MODULE, { on_stop: "flush" as never })).toThrow(
      "new App: on_stop must be a function. It is of type string.",
    );
  });
});

describe("on_start", () => {
  it("runs once, however often the application is started, and is awaited; a request does not run it", async () => {
    const events: string[] = [];
    const app = createTestApp(MODULE, {
      async on_start() {
        events.push("started");
        await pause(1);
        events.push("ended");
      },
    });
    await callOverHttp(app, "ping");
    expect(events).toEqual([]);
    await Promise.all([app.start(), app.start()]);
    expect(events).toEqual(["started", "ended"]);
    await app.close();
  });

  it("fails the start with its error as the cause, and runs again at the next start", async () => {
    const cause = new Error("on purpose");
    let runs = 0;
    const app = createTestApp(MODULE, {
      on_start() {
        runs++;
        if (runs === 1) throw cause;
      },
    });
    const failure = { message: "on_start of new App failed, so that the application does not start.", cause };
    await expect(app.start()).rejects.toMatchObject(failure);
    await app.start();
    expect(runs).toBe(2);
    await app.close();
  });

  it("is logged if it has not ended after 10 seconds", async () => {
    vi.useFakeTimers();
    const { log, lines } = recordedLog();
    void createStartHook(() => new Promise(() => undefined), log)();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(lines).toMatchObject([{ level: "warn", fields: { seconds: 10 } }]);
    expect(lines[0]?.message).toMatch(/^on_start of new App has not ended yet\./);
  });

  it("must be a function", () => {
    expect(() => createTestApp(MODULE, { on_start: 1 as never })).toThrow(
      "new App: on_start must be a function. It is of type number.",
    );
  });
});

describe("the last work of an application", () => {
  it("is not awaited for more than two seconds, and what has not ended is logged by its name", async () => {
    vi.useFakeTimers();
    const { log, lines } = recordedLog();
    const ran: number[] = [];
    const run = runLastWork(
      [
        [
          { name: "slow", run: () => new Promise(() => undefined) },
          { name: "fast", run: () => 1 },
        ],
        [{ name: "later", run: () => ran.push(1) }],
      ],
      log,
    );
    await vi.advanceTimersByTimeAsync(1_999);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await run;
    expect(lines.map(({ message }) => message)).toEqual([
      "slow has not ended in time. The application does not wait for it",
    ]);
    expect(ran).toEqual([]);
  });

  it("leaves no timer behind", async () => {
    vi.useFakeTimers();
    await runLastWork([[{ name: "fast", run: () => 1 }]], recordedLog().log);
    expect(vi.getTimerCount()).toBe(0);
  });
});
