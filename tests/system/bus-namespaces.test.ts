/**
 * Built applications on one Redis: in namespaces of their own, which are their names in package.json, as their realms are.
 */
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { buildProcesses } from "#test/built-processes";
import { RedisServer } from "#test/redis-server";
import { type Environment, type RunningServer, startNode } from "#test/run-tsweb";
import { deriveKey, verifyToken } from "../../src/session/index.ts";

let server: RedisServer;
let dist: string;
const cleanups: (() => unknown)[] = [];
const secret = randomBytes(32).toString("hex");

beforeAll(async () => {
  server = await RedisServer.start({ appendOnly: true });
  const project = await buildProcesses();
  // Without the project's package.json: the build has to contain the name.
  dist = join(mkdtempSync(join(tmpdir(), "tsweb-namespaces-")), "dist");
  cpSync(join(project.dir, "dist"), dist, { recursive: true });
  project.remove();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await server.client().flushall();
});

afterAll(async () => {
  await server?.stop();
  rmSync(join(dist, ".."), { recursive: true, force: true });
});

async function start(env: Environment): Promise<RunningServer> {
  const running = await startNode(dist, ["server.mjs"], { WEB_AUTH_SECRET: secret, RATE_CALLS: "3", ...env });
  cleanups.push(() => running.stop());
  return running;
}

async function call(running: RunningServer, name: string, args: object): Promise<Response> {
  const body = JSON.stringify({ args });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${running.address}/__web/rpc/${name}`, { method: "POST", headers, body });
  await response.text();
  return response;
}

const send = async (running: RunningServer, text: string) => (await call(running, "send", { text })).status;

/** Returns the namespaces in the names of all keys; the whole name of a key that has none. */
async function namespaces(): Promise<string[]> {
  const keys = await server.client().keys("*");
  return [...new Set(keys.map((key) => /^tsweb:\{(.*?)\}:/.exec(key)?.[1] ?? key))].sort();
}

it("a built application uses the name in its package.json as its namespace on the bus", async () => {
  const running = await start({ WEB_BUS_URL: server.url });
  expect(await send(running, "1")).toBe(200);
  expect(await namespaces()).toEqual(["acme__shop"]);
});

it("the realm of a built application is the name in its package.json, or WEB_REALM [SESSION-5]", async () => {
  for (const [env, realm] of [
    [{}, "@acme/shop"],
    [{ WEB_REALM: "shop" }, "shop"],
  ] as const) {
    const running = await start(env);
    const token = /web_session=([^;]+)/.exec(
      String((await call(running, "enter", { user: "ada" })).headers.get("set-cookie")),
    )?.[1];
    const isSignedIn = (name: string) =>
      verifyToken([deriveKey(Buffer.from(secret, "hex"), "session", name)], token) !== null;
    expect(["@acme/shop", "shop", "tsweb"].filter(isSignedIn)).toEqual([realm]);
  }
});

it("a built application uses the namespace in WEB_BUS_URL, also for the counts of the rate limit", async () => {
  const shop = await start({ WEB_BUS_URL: `${server.url}?namespace=shop` });
  const blog = await start({ WEB_BUS_URL: `${server.url}?namespace=blog` });
  for (let call = 0; call < 3; call++) expect(await send(shop, "1")).toBe(200);
  expect(await send(shop, "1")).toBe(429);
  expect(await send(blog, "1")).toBe(200);
  expect(await namespaces()).toEqual(["blog", "shop"]);
});

it("a process that shares no secret with the others does not start, and prints the fix", async () => {
  const url = `${server.url}?namespace=shop`;
  await start({ WEB_BUS_URL: url });
  const other = randomBytes(32).toString("hex");
  const output = await startNode(dist, ["server.mjs"], { WEB_AUTH_SECRET: other, WEB_BUS_URL: url }).then(
    () => "The server started.",
    (error: Error) => error.message,
  );
  expect(output).toContain("exited with 1");
  expect(output).toContain('another application uses the namespace "shop"');
  expect(output).toContain("end the URL with ?namespace=");
  expect(output).not.toMatch(/^ +at /m);
  await start({ WEB_AUTH_SECRET: other, WEB_AUTH_SECRET_PREVIOUS: secret, WEB_BUS_URL: url });
  await start({ WEB_AUTH_SECRET: other, WEB_BUS_URL: url });
});

it("a built application that installs a bus runs with WEB_WORKERS, and shares the counts of the rate limit in its Redis", async () => {
  const env = { ROOM_REDIS: `${server.url}?namespace=shop` };
  const workers = await start({ ...env, WEB_WORKERS: "2" });
  const single = await start(env);
  // A process counts on its own for a while if Redis does not answer in time.
  const countTogether = async () => {
    await server.client().flushall();
    const statuses: number[] = [];
    for (const running of [workers, single, workers, single, workers]) statuses.push(await send(running, "1"));
    return statuses;
  };
  await expect.poll(countTogether).toEqual([200, 200, 200, 429, 429]);
  expect(await namespaces()).toEqual(["shop"]);
});
