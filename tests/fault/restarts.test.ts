/**
 * Rolling restarts under load: no call fails, and listeners receive every message. `npm run torture -- restarts` runs more
 * restarts.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { Caddy } from "#test/caddy";
import { createCertificate } from "#test/certificate";
import { buildLiveApp } from "#test/live-app";
import { Nginx } from "#test/nginx";
import { RedisServer } from "#test/redis-server";
import { callOver, Http1Client, Http2Client, type RestartClient } from "#test/restart-clients";
import { type LoadResult, type LoadSize, RestartLoad } from "#test/restart-load";
import { type RunningServer, startNode } from "#test/run-tsweb";
import { TemporaryFolder } from "#test/temporary-folder";
import type { TestProject } from "#test/test-project";

const isFull = process.env.TORTURE_SIZE === "full";
const RESTARTS = isFull ? 10 : 1;

/** Many calls, at full size as many as the machine can handle, and a call a second: a proxy then has idle connections. */
const LOADS: readonly (readonly [name: string, size: LoadSize])[] = [
  ["many calls at once", { callers: 16, pauseMs: isFull ? 0 : 100, listeners: isFull ? 20 : 10 }],
  ["a call a second", { callers: 1, pauseMs: 1_000, listeners: isFull ? 20 : 10 }],
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

/** Returns the environment of the processes, with the drain of production. */
const envOf = ({ url }: RedisServer) => ({ ...sharedEnv(url), WEB_TRUST_PROXY: "1", WEB_DRAIN_SECONDS: undefined });

function expectNothingLost({ calls, failures, published, received }: LoadResult): void {
  if (isFull) console.log(`${calls} calls, ${failures.length} failed; ${published.length} messages for each listener`);
  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(0);
  for (const messages of received) expect(messages).toEqual(published);
}

interface Proxy {
  readonly client: RestartClient;
  /** A session without open requests during the restarts, over HTTP/2. */
  readonly idleClient?: Http2Client;
}

async function startNginx(ports: readonly number[]): Promise<Proxy> {
  const folder = new TemporaryFolder("certificate");
  cleanups.push(() => folder.remove());
  const certificate = createCertificate(folder.path);
  const nginx = await Nginx.start({ ports, usesRecipe: true, certificate });
  cleanups.push(() => nginx.stop());
  const [client, idleClient] = [new Http2Client(nginx.port, certificate), new Http2Client(nginx.port, certificate)];
  cleanups.push(
    () => client.close(),
    () => idleClient.close(),
  );
  return { client, idleClient };
}

async function startCaddy(ports: readonly number[]): Promise<Proxy> {
  const caddy = await Caddy.start({ ports });
  cleanups.push(() => caddy.stop());
  return { client: new Http1Client(caddy.address) };
}

/** Checks that a session is still open that was used before the restarts and not since. */
async function expectSameSession(idleClient: Http2Client, pidBefore: number | null): Promise<void> {
  const { status, result } = await callOver<number>(idleClient, "pid", {});
  expect([status, idleClient.sessionCount]).toEqual([200, 1]);
  expect(result).not.toBe(pidBefore);
}

/** Behind each proxy: its name, the name of the load, and how both start. */
const CASES = [
  ...LOADS.map(
    ([load, size]) => ["nginx with TLS and HTTP/2, which also keeps an idle session", load, startNginx, size] as const,
  ),
  ...FURTHER_LOADS.map(([load, size]) => ["Caddy", load, startCaddy, size] as const),
];
/** At full size, a load needs the whole machine. Otherwise, the processes are restarted once under all of them. */
const RUNS = isFull ? CASES.map((each) => [each]) : [CASES];

interface RunningLoad {
  readonly load: RestartLoad;
  readonly idleClient: Http2Client | undefined;
  /** The id of the process that has answered the idle client. */
  readonly pidBefore: number | null;
}

/** Starts a proxy and a load, which end with the test. */
async function startLoad([, , start, size]: (typeof CASES)[number], to: readonly AppProcess[]): Promise<RunningLoad> {
  const { client, idleClient } = await start(to.map(({ port }) => port));
  const pidBefore = idleClient ? (await callOver<number>(idleClient, "pid", {})).result : null;
  const load = await RestartLoad.start(client, size);
  cleanups.push(() => load.end()); // if the test has failed
  return { load, idleClient, pidBefore };
}

describe("two processes, restarted in turns", () => {
  let redis: RedisServer;
  let processes: readonly AppProcess[];
  beforeAll(async () => {
    redis = await RedisServer.start();
    const env = envOf(redis);
    processes = [await AppProcess.start(project.dir, env), await AppProcess.start(project.dir, env)];
  });
  afterAll(async () => {
    for (const each of processes ?? []) await each.kill();
    await redis?.stop();
  });

  it.each(RUNS.map((run) => ({ run, title: run.map(([proxy, load]) => `${proxy}, with ${load}`).join("; ") })))(
    "lose no call and no message behind $title",
    async ({ run }) => {
      const loads: RunningLoad[] = [];
      for (const each of run) loads.push(await startLoad(each, processes));
      const counts = () => loads.map(({ load }) => load.processes);
      await expect.poll(counts, { timeout: 60_000 }).toEqual(loads.map(() => 2));
      for (let n = 0; n < RESTARTS; n++) {
        for (const each of processes) {
          const before = counts();
          expect(await each.stop()).toBe(0);
          await each.restart();
          // The next one is stopped only when every proxy uses this one again.
          const isUsed = () => counts().every((count, at) => count > (before[at] ?? 0));
          await expect.poll(isUsed, { timeout: 60_000 }).toBe(true);
        }
      }
      const results = await Promise.all(loads.map(({ load }) => load.stop()));
      for (const { idleClient, pidBefore } of loads) if (idleClient) await expectSameSession(idleClient, pidBefore);
      for (const result of results) expectNothingLost(result);
    },
    600_000,
  );
});

describe("two workers, restarted by SIGHUP", () => {
  it.each(FURTHER_LOADS)(
    "lose no call and no message with %s",
    async (_, size) => {
      const redis = await RedisServer.start();
      cleanups.push(() => redis.stop());
      const env = { ...envOf(redis), WEB_WORKERS: "2" };
      const server: RunningServer = await startNode(project.dir, ["dist/server.mjs"], env);
      cleanups.push(() => server.stop());
      const load = await RestartLoad.start(new Http1Client(server.address), size);
      cleanups.push(() => load.end());
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
