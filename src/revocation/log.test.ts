import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { runWithCookie } from "#test/request-context";
import { ConfigError } from "../config/index.ts";
import { currentContext } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { UnreachableError } from "../reconnect.ts";
import { RevocationLog } from "./log.ts";
import { memoryRevocations, type RevocationStore } from "./store.ts";

const MISCONFIGURED = new ConfigError([
  { variable: "WEB_BUS_URL", problem: "is used by another application.", fix: "Choose another namespace." },
]);

const logs: RevocationLog[] = [];
afterEach(() => {
  for (const log of logs.splice(0)) log.close();
});

/**
 * Returns a log in a store of several processes, whose reads fail with the error that the test sets.
 *
 * @param onWarning called when it logs a warning
 */
function openLog(onWarning: () => void = () => undefined) {
  const inner = memoryRevocations();
  const store = {
    failure: undefined as Error | undefined,
    /** Reads wait for it. */
    delay: undefined as Promise<void> | undefined,
    reads: 0,
    /** Notifies the log of a new entry. */
    notify: () => {},
    append: (subject: string) => inner.append(subject),
    async read(after: Parameters<RevocationStore["read"]>[0]) {
      store.reads++;
      await store.delay;
      if (store.failure) throw store.failure;
      return inner.read(after);
    },
    watch(listener: () => void) {
      store.notify = listener;
      return () => undefined;
    },
  };
  const { log: recorded, lines } = recordedLog();
  const warn: Logger["warn"] = (fields, message) => {
    onWarning();
    recorded.warn(fields, message);
  };
  const log = { ...recorded, warn };
  const revocations = new RevocationLog({ source: () => ({ store }), log, onRevoked: () => undefined });
  logs.push(revocations);
  return { revocations, store, lines };
}

it("rejects the start if the configuration has to be corrected, and does not retry", async () => {
  const { revocations, store } = openLog();
  store.failure = MISCONFIGURED;
  await expect(revocations.start(1_000)).rejects.toBe(MISCONFIGURED);
  expect(store.reads).toBe(1);
});

it("retries after an error of the configuration that appears after the start, logs it once, and is loaded when it is corrected", async () => {
  const { revocations, store, lines } = openLog();
  store.failure = new Error("unreachable");
  await revocations.start(1_000);
  expect(revocations.isLoaded).toBe(false);
  store.failure = MISCONFIGURED;
  const { reads } = store;
  await expect.poll(() => store.reads).toBeGreaterThan(reads + 1);
  store.failure = undefined;
  await expect.poll(() => revocations.isLoaded).toBe(true);
  expect(lines).toMatchObject([
    { level: "warn", message: expect.stringContaining("answered with 503 until it can be read") },
    { level: "error", message: expect.stringMatching(/^The revocation log cannot be read; retrying\. .*WEB_BUS_URL/s) },
    { level: "info", message: "The revocation log can be read again" },
  ]);
});

describe("the start", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Starts a log whose store does not reply until the test lets it. */
  function startHanging(maxMs: number) {
    const { revocations, store, lines } = openLog();
    let reply = () => {};
    store.delay = new Promise((resolve) => {
      reply = resolve;
    });
    const state = { hasEnded: false };
    const starting = revocations.start(maxMs).then(() => {
      state.hasEnded = true;
    });
    return { revocations, lines, state, starting, reply };
  }

  it("waits for the first read, logs that after a second, and logs when it was read", async () => {
    const { revocations, lines, state, starting, reply } = startHanging(10_000);
    await vi.advanceTimersByTimeAsync(999);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(state.hasEnded).toBe(false);
    expect(lines.map(({ message }) => message)).toEqual([
      "Waiting for the first read of the revocation log, for up to 10 s",
    ]);
    reply();
    await starting;
    expect(revocations.isLoaded).toBe(true);
    expect(lines.slice(1)).toEqual([{ level: "info", fields: { ms: 9_999 }, message: "The revocation log was read" }]);
  });

  it("goes on after its time limit, logs that, and logs later that the log was read", async () => {
    const { revocations, lines, starting, reply } = startHanging(10_000);
    await vi.advanceTimersByTimeAsync(10_000);
    await starting;
    expect(revocations.isLoaded).toBe(false);
    await revocations.startForRequest(); // requests do not wait again: no timer fires any more
    expect(lines.slice(1)).toMatchObject([
      {
        level: "warn",
        message: expect.stringContaining("could not be read within 10 s. The start goes on without it"),
      },
    ]);
    await vi.advanceTimersByTimeAsync(5_000);
    reply();
    await vi.advanceTimersByTimeAsync(0);
    expect(revocations.isLoaded).toBe(true);
    expect(lines.slice(2)).toEqual([{ level: "info", fields: { ms: 15_000 }, message: "The revocation log was read" }]);
  });

  it("logs nothing if the log was read within a second", async () => {
    const { lines, starting, reply } = startHanging(10_000);
    await vi.advanceTimersByTimeAsync(900);
    reply();
    await starting;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(lines).toEqual([]);
  });

  it("does not make requests wait longer than a second", async () => {
    const { revocations, state } = startHanging(10_000);
    let hasWaited = false;
    void revocations.startForRequest()?.then(() => {
      hasWaited = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(hasWaited).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(hasWaited).toBe(true);
    await expect(revocations.startForRequest()).resolves.toBeUndefined(); // the next one does not wait
    expect(state.hasEnded).toBe(false);
  });

  it("rejects if the configuration has to be corrected, also when the store was unreachable at first", async () => {
    const { revocations, store } = openLog();
    store.failure = new UnreachableError("The bus did not respond.");
    const starting = expect(revocations.start(10_000)).rejects.toBe(MISCONFIGURED);
    await vi.advanceTimersByTimeAsync(5_000);
    store.failure = MISCONFIGURED;
    await vi.advanceTimersByTimeAsync(1_000);
    await starting;
  });

  it("ends at once, without a line, when the log is closed", async () => {
    vi.useRealTimers();
    const { revocations, store, lines } = openLog();
    store.failure = new UnreachableError("The bus did not respond.");
    const ended = revocations.start(10_000).then(() => "ended");
    await expect.poll(() => lines).toHaveLength(1); // it pauses before it tries again
    revocations.close();
    const nextTurn = new Promise((resolve) => setImmediate(resolve, "it still waits"));
    expect(await Promise.race([ended, nextTurn])).toBe("ended");
    expect(lines).toHaveLength(1);
  });
});

describe("a log that could be read before", () => {
  it("is reported once when it cannot be read, and once with the duration when it can be read again", async () => {
    const { revocations, store, lines } = openLog();
    await revocations.start(10_000);
    store.failure = new UnreachableError("The bus did not respond.");
    store.notify();
    await expect.poll(() => lines).toHaveLength(1);
    store.notify();
    await expect.poll(() => store.reads).toBeGreaterThan(2);
    store.failure = undefined;
    store.notify();
    await expect.poll(() => lines).toHaveLength(2);
    await revocations.read();
    expect(lines).toEqual([
      {
        level: "warn",
        fields: { reason: "The bus did not respond." }, // without a stack
        message: expect.stringMatching(/^The revocation log cannot be read; retrying\. Revocations of other processes/),
      },
      { level: "info", fields: { ms: expect.any(Number) }, message: "The revocation log can be read again" },
    ]);
  });

  it("is reported outside of the request whose session has caused the failed read", async () => {
    const contexts: unknown[] = [];
    const { revocations, store, lines } = openLog(() => contexts.push(currentContext()));
    await revocations.start(10_000);
    const { epoch, seq } = revocations.position ?? expect.unreachable();
    store.failure = new UnreachableError("The bus did not respond.");
    const ahead = { position: { epoch, seq: seq + 1 }, subjects: { user: "user", signIn: "sign-in" } };
    runWithCookie(undefined, () => revocations.isRevoked(ahead));
    await expect.poll(() => lines).toHaveLength(1);
    expect(contexts).toEqual([undefined]);
  });

  it("is reported with the stack of an error that is not about the connection", async () => {
    const { revocations, store, lines } = openLog();
    await revocations.start(10_000);
    store.failure = new TypeError("read is not a function");
    store.notify();
    await expect.poll(() => lines).toMatchObject([{ level: "warn", fields: { err: store.failure } }]);
  });
});
