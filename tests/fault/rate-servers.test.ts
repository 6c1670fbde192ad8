/**
 * Two servers of one application that share the rate limit in Redis, while Redis is killed and restarted.
 */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { buildProcesses } from "#test/built-processes";
import { RedisServer } from "#test/redis-server";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

const UNREACHABLE = "The shared rate limit store is unreachable";
const REACHABLE = "The shared rate limit store is reachable again";

let site: TestProject;
let redis: RedisServer;
let servers: RunningServer[];

beforeAll(async () => {
  site = await buildProcesses();
});

afterAll(() => site?.remove());

beforeEach(async () => {
  redis = await RedisServer.start({ appendOnly: true });
  const env = {
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    WEB_BUS_URL: redis.url,
    RATE_CALLS: "120",
    WEB_TRUST_PROXY: "1", // a test sends the requests of several clients
  };
  servers = await Promise.all([1, 2].map(() => startBuilt(site.dir, env)));
});

afterEach(async () => {
  const codes = await Promise.all(servers.map((server) => server.stop()));
  await redis.stop();
  expect(codes).toEqual([0, 0]);
});

async function call(server: RunningServer | undefined, client: string): Promise<Response> {
  const response = await fetch(`${server?.address}/__web/rpc/ping`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": client },
    body: '{"args":{}}',
  });
  await response.text();
  return response;
}

/**
 * Sends the calls of a client to both servers alternately, twenty at a time. Returns the count of each status. Each refusal says when
 * to retry.
 */
async function callBoth(times: number, client: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let sent = 0;
  const sendCalls = async () => {
    while (sent < times) {
      const { status, headers } = await call(servers[sent++ % 2], client);
      counts[status] = (counts[status] ?? 0) + 1;
      if (status !== 429) continue;
      const wait = Number(headers.get("retry-after"));
      expect(wait).toBeGreaterThanOrEqual(1);
      expect(wait).toBeLessThanOrEqual(2 * 3600);
    }
  };
  await Promise.all(Array.from({ length: 20 }, sendCalls));
  return counts;
}

const logLines = (server: RunningServer, part: string) =>
  server
    .output()
    .split("\n")
    .filter((line) => line.includes(part));

/**
 * Expects both servers together to accept 120 of 300 calls of a client. On a busy machine, Redis may answer a
 * call after 250 ms, which its server then counts alone, and logs: only then this sends the calls of another client.
 */
async function expectShared(network: string): Promise<void> {
  const counts = await callBoth(300, `${network}.1`);
  if (counts[200] === 120 && counts[429] === 180) return;
  const slow = servers.flatMap((server) => logLines(server, "The shared rate limit store is slow"));
  expect(slow, JSON.stringify(counts)).not.toEqual([]);
  let client = 1;
  await expect.poll(() => callBoth(300, `${network}.${++client}`)).toEqual({ 200: 120, 429: 180 });
}

it("two servers with one Redis accept 120 calls of a client together, and refuse the others with Retry-After", async () => {
  await expectShared("10.0.1");
  expect(await callBoth(4, "10.0.0.2")).toEqual({ 200: 4 });
});

it("two servers count for themselves while Redis is unreachable, and share the counts again afterwards", async () => {
  const duringKill = callBoth(200, "10.0.0.3");
  await redis.kill();
  const counts = await duringKill;
  // No call fails: each is accepted or refused, by the count of its server.
  expect((counts[200] ?? 0) + (counts[429] ?? 0)).toBe(200);
  expect(counts[200]).toBeGreaterThanOrEqual(120);
  expect(await callBoth(300, "10.0.0.4")).toEqual({ 200: 240, 429: 60 });
  for (const server of servers) await expect.poll(() => logLines(server, UNREACHABLE).length).toBe(1);

  await redis.restart();
  for (const server of servers) {
    await expect.poll(() => logLines(server, REACHABLE).length).toBe(1);
    expect(logLines(server, "Redis is unreachable; retrying")).toHaveLength(1);
    expect(logLines(server, "Redis is reachable again")).toHaveLength(1);
  }
  await expectShared("10.0.2");
  for (const server of servers) expect(logLines(server, UNREACHABLE)).toHaveLength(1);
});
