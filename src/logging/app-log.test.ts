import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { type AppLogOptions, createAppLog, markPublishFailure } from "./index.ts";
import { wrapLogger } from "./logger.ts";

function openLog(options: Partial<AppLogOptions> = {}) {
  const { log: logger, lines } = recordedLog();
  const errors: unknown[] = [];
  const log = createAppLog(logger, {
    level: "info",
    requestFields: () => undefined,
    onError: (error) => errors.push(error),
    onPublishFailures: () => undefined,
    ...options,
  });
  return { log, lines, errors };
}

describe("the log of an application", () => {
  it.each([
    ["info", ["info", "warn", "warn", "error"]],
    ["warn", ["warn", "warn", "error"]],
    ["error", ["error"]],
    ["silent", []],
  ] as const)("writes with the level %s the lines of the levels %j", (level, written) => {
    const { log, lines } = openLog({ level });
    log.info({}, "information");
    log.warn({}, "warning");
    log.refused("rate", {}, "refused");
    log.error({}, "error");
    expect(lines.map((line) => line.level)).toEqual(written);
  });

  it("adds the fields of the current request to each line", () => {
    const { log, lines } = openLog({ requestFields: () => ({ trace_id: "ab" }) });
    log.info({ id: "1" }, "one");
    log.refused("size", { id: "2" }, "two");
    expect(lines.map(({ fields }) => fields)).toEqual([
      { id: "1", trace_id: "ab" },
      { reason: "size", refused: 1, id: "2", trace_id: "ab" },
    ]);
  });

  it("reports the errors of lines of the level error only, also if no line is written", () => {
    for (const level of ["info", "silent"] as const) {
      const { log, errors } = openLog({ level });
      log.warn({ err: new Error("expected") }, "The bus is unreachable");
      log.error({}, "No error");
      log.error({ err: undefined }, "Something threw undefined");
      expect(errors).toEqual([undefined]);
    }
  });
});

describe("messages that the bus did not store, in the log", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function openFailures() {
    const reported: unknown[] = [];
    const opened = openLog({ onPublishFailures: (error) => reported.push(error) });
    const fail = (...errors: Error[]) => {
      for (const err of errors) {
        markPublishFailure(err);
        opened.log.error({ err }, "The call of save failed");
      }
    };
    return { ...opened, reported, fail };
  }
  const replyError = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });

  it("are logged and reported at once for each cause, whatever was logged in this minute", () => {
    const { lines, reported, fail } = openFailures();
    const lost = () => new Error("Redis at 127.0.0.1:6379 is unreachable.");
    fail(lost(), lost(), lost());
    vi.advanceTimersByTime(23_000);
    const full = replyError("OOM command not allowed when used memory > 'maxmemory'.");
    fail(full, lost());
    expect(lines.map(({ fields }) => fields)).toMatchObject([
      { reason: "publish", failed: 1, err: { message: lost().message } },
      { reason: "publish", failed: 1, err: full },
    ]);
    expect(reported).toHaveLength(2);
    vi.advanceTimersByTime(37_000);
    expect(lines.slice(2).map(({ fields }) => fields)).toMatchObject([{ reason: "publish", failed: 3 }]);
  });

  it.each([
    ["numbers", new Error("No reply within 2000 ms from 10.0.0.1"), new Error("No reply within 251 ms from 10.0.0.2")],
    ["names in quotes", new Error("Channel 'a' is full"), new Error("Channel 'b' is full")],
  ])("have one cause if their messages differ in %s only", (_what, one, other) => {
    const { lines, fail } = openFailures();
    fail(one, other);
    expect(lines).toHaveLength(1);
  });

  it.each([
    ["class", new Error("full"), new TypeError("full")],
    ["code", Object.assign(new Error("x"), { code: "ECONNRESET" }), Object.assign(new Error("x"), { code: "EPIPE" })],
    ["message", replyError("OOM command not allowed"), replyError("NOPERM this user has no permissions")],
  ])("have different causes if they differ in their %s", (_what, one, other) => {
    const { lines, fail } = openFailures();
    fail(one, other);
    expect(lines).toHaveLength(2);
  });

  it("are counted together beyond eight causes", () => {
    const { lines, fail } = openFailures();
    const letters = [..."abcdefghijklmnopqrstuvwxyz"];
    fail(...letters.map((letter) => new Error(`Cause ${letter}`)));
    expect(lines).toHaveLength(9);
    vi.advanceTimersByTime(60_000);
    expect(lines.slice(9).map(({ fields }) => fields)).toMatchObject([{ failed: letters.length - 9 }]);
  });
});

describe("refusals in the log", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are one line a minute for each reason: the first at once, then their number with the latest one", () => {
    const { log, lines } = openLog();
    for (let n = 1; n <= 1_000; n++) log.refused("rate", { id: n }, `Too many calls ${n}.`);
    log.refused("origin", { id: "other" }, "Another site.");
    expect(lines).toEqual([
      { level: "warn", fields: { reason: "rate", refused: 1, id: 1 }, message: "Too many calls 1." },
      { level: "warn", fields: { reason: "origin", refused: 1, id: "other" }, message: "Another site." },
    ]);
    vi.advanceTimersByTime(59_999);
    expect(lines).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(lines.slice(2)).toEqual([
      {
        level: "warn",
        fields: { reason: "rate", refused: 999, id: 1_000 },
        message: "999 requests were refused in the last minute. The latest: Too many calls 1000.",
      },
    ]);
    log.refused("rate", { id: 1_001 }, "Too many calls 1001.");
    vi.advanceTimersByTime(60_000);
    expect(lines.slice(3).map(({ fields }) => fields)).toEqual([{ reason: "rate", refused: 1, id: 1_001 }]);
  });

  it("have the fields of their own request, and are written outside of the request that came first", () => {
    const requests = new AsyncLocalStorage<string>();
    // As a timer of Node, and unlike a fake one, it runs in the context in which it was created.
    // Not with vi.spyOn: vi.restoreAllMocks would set the fake timer again, after the end of this file too.
    const { setInterval } = globalThis;
    Object.assign(globalThis, {
      setInterval(report: () => void) {
        setTimeout(AsyncResource.bind(report), 60_000);
        return { unref: () => undefined };
      },
    });
    const contexts: unknown[] = [];
    const { log, lines } = openLog({
      requestFields: () => ({ trace_id: requests.getStore() }),
      onPublishFailures: () => contexts.push(requests.getStore()),
    });
    for (const trace of ["first", "second"]) {
      const err = new Error("The bus is unreachable.");
      markPublishFailure(err);
      requests.run(trace, () => log.error({ err }, "The call of save failed"));
    }
    vi.advanceTimersByTime(60_000);
    Object.assign(globalThis, { setInterval });
    expect(lines.map(({ fields }) => fields)).toMatchObject([{ trace_id: "first" }, { trace_id: "second" }]);
    expect(contexts).toEqual(["first", undefined]);
  });

  it("are logged at once again after a minute without any", () => {
    const { log, lines } = openLog();
    log.refused("rate", {}, "Too many calls.");
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
    log.refused("rate", {}, "Too many calls.");
    expect(lines).toHaveLength(2);
  });

  it("are all counted in the log when the application is closed", () => {
    const { log, lines } = openLog();
    for (let n = 0; n < 3; n++) log.refused("size", {}, "Too large.");
    log.close();
    expect(lines.map(({ fields }) => fields)).toEqual([
      { reason: "size", refused: 1 },
      { reason: "size", refused: 2 },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a logger of the application", () => {
  it("receives fields and messages, and errors without fields that may be secret, if it is one of pino", () => {
    const lines: Record<string, unknown>[] = [];
    const logger = wrapLogger(pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) }));
    class OrderError extends Error {}
    const cause = Object.assign(new Error("fetch failed"), { options: { authorization: "hunter2" } });
    const error = Object.assign(new OrderError("failed", { cause }), {
      code: "ECONNRESET",
      config: { authorization: "hunter2" },
    });
    logger.info({ id: "1" }, "Saved");
    logger.error({ err: error }, "The call of save failed");
    expect(lines).toMatchObject([
      { level: 30, id: "1", msg: "Saved" },
      { level: 50, msg: "The call of save failed", err: { type: "OrderError", code: "ECONNRESET" } },
    ]);
    expect(JSON.stringify(lines[1]?.err)).toContain("fetch failed");
    expect(lines[1]?.err).toHaveProperty("stack", expect.stringContaining("app-log.test.ts"));
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  it.each([null, 1, "text", {}, { info() {}, warn() {} }, () => {}])(
    "is refused without the methods of one: %j",
    (log) => {
      expect(() => wrapLogger(log)).toThrow(/^new App: log has no method (info|error)\. Pass a logger/);
    },
  );
});
