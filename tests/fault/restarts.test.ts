/**
 * Rolling restarts under load: no call fails, and listeners receive every message. `npm run torture -- restarts` runs more
 * restarts.
 */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { Caddy } from "#test/caddy";
import { buildLiveApp } from "#test/live-app";
import { Nginx } from "#test/nginx";
import { RedisServer } from "#test/redis-server";
import { type LoadResult, type LoadSize, RestartLoad } from "#test/restart-load";
import { type RunningServer, startNode } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

const isFull = process.env.TORTURE_SIZE === "full";
const RESTARTS = isFull ? 10 : 1;

/** As many calls as the machine can handle, and a call a second: a proxy then has idle connections. */
const LOADS: readonly (readonly [name: string, size: LoadSize])[] = [
  ["full load", { callers: 16, pauseMs: 0, listeners: 20 }],
  ["a call a second", { callers: 1, pauseMs: 1_000, listeners: 20 }],
];

/** The loads behind another proxy than nginx: in the short version, only the first one. */
const FURTHER_LOADS = isFull ? LOADS : LOADS.slice(0, 1);

let project: TestProject;
beforeAll(async () => {
  project = await buildLiveApp();
  return () => project.remove();
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts Redis. @returns the environment of the processes, with the drain of production */
async function startBus() {
  const redis = await RedisServer.start();
  cleanups.push(() => redis.stop());
  return { ...sharedEnv(redis.url), WEB_TRUST_PROXY: "1", WEB_DRAIN_SECONDS: undefined };
}

function expectNothingLost({ calls, failures, published, received }: LoadResult): void {
  if (isFull) console.log(`${calls} calls, ${failures.length} failed; ${published.length} messages for each listener`);
  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(0);
  for (const messages of received) expect(messages).toEqual(published);
}

describe.each([
  ["nginx", (ports: readonly number[]) => Nginx.start({ ports, usesRecipe: true }), LOADS],
  ["Caddy", (ports: readonly number[]) => Caddy.start({ ports }), FURTHER_LOADS],
] as const)("two processes behind %s, restarted in turns", (_, startProxy, loads) => {
  it.each(loads)(
    "lose no call and no message with %s",
    async (_name, size) => {
      const env = await startBus();
      const processes = [await AppProcess.start(project.dir, env), await AppProcess.start(project.dir, env)];
      for (const each of processes) cleanups.push(() => each.kill());
      const proxy = await startProxy(processes.map(({ port }) => port));
      cleanups.push(() => proxy.stop());
      const load = await RestartLoad.start(proxy.address, size);
      await expect.poll(() => load.processes, { timeout: 60_000 }).toBe(2);
      for (let n = 0; n < RESTARTS; n++) {
        for (const each of processes) {
          const before = load.processes;
          expect(await each.stop()).toBe(0);
          await each.restart();
          // The next one is stopped only when the proxy uses this one again.
          await expect.poll(() => load.processes, { timeout: 60_000 }).toBeGreaterThan(before);
        }
      }
      expectNothingLost(await load.stop());
    },
    600_000,
  );
});

describe("two workers, restarted by SIGHUP", () => {
  it.each(FURTHER_LOADS)(
    "lose no call and no message with %s",
    async (_, size) => {
      const env = { ...(await startBus()), WEB_WORKERS: "2" };
      const server: RunningServer = await startNode(project.dir, ["dist/server.mjs"], env);
      cleanups.push(() => server.stop());
      const load = await RestartLoad.start(server.address, size);
      for (let n = 1; n <= RESTARTS; n++) {
        server.signal("SIGHUP");
        await expect
          .poll(() => server.output().match(/All processes were restarted/g) ?? [], { timeout: 120_000 })
          .toHaveLength(n);
      }
      expectNothingLost(await load.stop());
    },
    600_000,
  );
});
