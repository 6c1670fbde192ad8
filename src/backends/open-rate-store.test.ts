import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { singleLimit } from "#test/single-limit";
import type { Logger } from "../logging/index.ts";
import { openRateStore } from "./open-rate-store.ts";

it("logs an outage outside of the request that has noticed it, and of the one that has connected", async () => {
  const requests = new AsyncLocalStorage<string>();
  const contexts: unknown[] = [];
  const { log, lines } = recordedLog();
  const write = (level: keyof Logger) => (fields: object, message: string) => {
    contexts.push(requests.getStore());
    log[level](fields, message);
  };
  const store = openRateStore({
    redis: () => ({ url: "redis://127.0.0.1:1", namespace: "shop" }),
    log: { info: write("info"), warn: write("warn"), error: write("error") },
  });
  const { take } = singleLimit(store, { calls: 3, seconds: 60 });
  expect(await requests.run("a request", () => take("a"))).toBe(0);
  // The rate limit may have given up waiting before the connection was refused.
  await expect.poll(() => lines.map(({ message }) => message)).toContain("Redis is unreachable; retrying");
  await store.close();
  expect(lines.length).toBeGreaterThan(1);
  expect(contexts).toEqual(lines.map(() => undefined));
});
