/**
 * Two servers of one application, counting calls together through a Redis that is killed under them.
 */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { RedisServer } from "#test/redis-server";
import { build, type Running, startBuilt } from "#test/run-tsweb";
import { Site } from "#test/site";

const AWAY = "this process counts calls by itself";
const BACK = "processes count calls together";

let site: Site;
let redis: RedisServer;
let servers: Running[];

beforeAll(async () => {
  site = Site.of({
    "src/app.ts":
      'import { App } from "tsweb";\nimport * as ping from "./ping.server.ts";\n' +
      // In an hour rather than a minute: no test is long enough for a call to slide out of it.
      "export default new App({ modules: [ping], rate: { calls: 120, seconds: 3600 } });\n",
    "src/ping.server.ts": 'import { server } from "tsweb";\nexport const ping = server(() => "pong");\n',
  });
  await build(site.dir);
});

afterAll(() => site?.remove());

beforeEach(async () => {
  redis = await RedisServer.start({ appendOnly: true });
  const env = {
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    WEB_BUS_URL: redis.url,
    WEB_TRUST_PROXY: "1", // a test is many clients
  };
  servers = await Promise.all([1, 2].map(() => startBuilt(site.dir, env)));
});

afterEach(async () => {
  const codes = await Promise.all(servers.map((server) => server.stop()));
  await redis.stop();
  expect(codes).toEqual([0, 0]);
});

async function call(server: Running | undefined, client: string): Promise<Response> {
  const response = await fetch(`${server?.address}/__web/rpc/ping`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": client },
    body: '{"args":{}}',
  });
  await response.text();
  return response;
}

/** Sends a client's calls to both servers in turn, twenty at once; gives how many were answered how. */
async function callBoth(times: number, client: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let sent = 0;
  const caller = async () => {
    while (sent < times) {
      const { status } = await call(servers[sent++ % 2], client);
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 20 }, caller));
  return counts;
}

const lines = (server: Running, part: string) =>
  server
    .output()
    .split("\n")
    .filter((line) => line.includes(part));

it("let 120 calls of a client through together, not 240, and tell the others when to come again", async () => {
  expect(await callBoth(300, "10.0.0.1")).toEqual({ 200: 120, 429: 180 });
  for (const server of servers) {
    const wait = Number((await call(server, "10.0.0.1")).headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(2 * 3600);
  }
  expect(await callBoth(4, "10.0.0.2")).toEqual({ 200: 4 });
});

it("serve on while Redis is away, each by its own count, and count together again after", async () => {
  const midway = callBoth(200, "10.0.0.3");
  await redis.kill();
  const counts = await midway;
  // None fails: each is let through, or refused by what its server has counted.
  expect((counts[200] ?? 0) + (counts[429] ?? 0)).toBe(200);
  expect(counts[200]).toBeGreaterThanOrEqual(120);
  expect(await callBoth(300, "10.0.0.4")).toEqual({ 200: 240, 429: 60 });
  for (const server of servers) expect(lines(server, AWAY)).toHaveLength(1);

  await redis.restart();
  for (const server of servers) {
    await expect.poll(() => lines(server, BACK).length, { timeout: 15_000 }).toBe(1);
    expect(lines(server, "Redis is away")).toHaveLength(1);
    expect(lines(server, "Redis is back")).toHaveLength(1);
  }
  expect(await callBoth(300, "10.0.0.5")).toEqual({ 200: 120, 429: 180 });
  for (const server of servers) expect(lines(server, AWAY)).toHaveLength(1);
});
