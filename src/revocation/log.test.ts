import { afterEach, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { ConfigError } from "../config/index.ts";
import { RevocationLog } from "./log.ts";
import { memoryRevocations } from "./memory.ts";
import type { RevocationStore } from "./store.ts";

const MISCONFIGURED = new ConfigError([
  { variable: "WEB_BUS_URL", problem: "is used by another application.", fix: "Choose another namespace." },
]);

const logs: RevocationLog[] = [];
afterEach(() => {
  for (const log of logs.splice(0)) log.close();
});

/** Returns a log in a store of several processes, whose reads fail with the error that the test sets. */
function openLog() {
  const inner = memoryRevocations();
  const store = {
    failure: undefined as Error | undefined,
    reads: 0,
    append: (subject: string) => inner.append(subject),
    async read(after: Parameters<RevocationStore["read"]>[0]) {
      store.reads++;
      if (store.failure) throw store.failure;
      return inner.read(after);
    },
    watch: () => () => undefined,
  };
  const { log, lines } = recordedLog();
  const revocations = new RevocationLog({ source: () => ({ store }), log, onRevoked: () => undefined });
  logs.push(revocations);
  return { revocations, store, lines };
}

it("rejects the start if the configuration has to be corrected, and does not retry", async () => {
  const { revocations, store } = openLog();
  store.failure = MISCONFIGURED;
  await expect(revocations.start()).rejects.toBe(MISCONFIGURED);
  expect(store.reads).toBe(1);
});

it("retries after an error of the configuration that appears after the start, logs it once, and is loaded when it is corrected", async () => {
  const { revocations, store, lines } = openLog();
  store.failure = new Error("unreachable");
  await revocations.start();
  expect(revocations.isLoaded).toBe(false);
  store.failure = MISCONFIGURED;
  const { reads } = store;
  await expect.poll(() => store.reads).toBeGreaterThan(reads + 1);
  expect(lines).toMatchObject([
    { level: "warn", message: expect.stringContaining("answered with 503 until it can be read") },
    { level: "error", message: expect.stringMatching(/^The revocation log cannot be read; retrying\. .*WEB_BUS_URL/s) },
  ]);
  store.failure = undefined;
  await expect.poll(() => revocations.isLoaded).toBe(true);
});
