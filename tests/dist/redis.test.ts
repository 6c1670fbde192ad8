/**
 * Redis in a built application. It works if ioredis is installed in the application. An application without
 * ioredis can be built and served, as long as it is not configured to use Redis.
 */
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RedisServer } from "#test/redis-server";
import { startNode } from "#test/run-tsweb";
import {
  createEmptyFolder,
  createInstalledProject,
  NPM_INSTALL,
  nodeModulesAbove,
  type Project,
} from "./fresh-project.ts";

const FILES = new Map([
  ["package.json", '{ "name": "rated", "private": true, "type": "module" }\n'],
  [
    "src/app.ts",
    'import { App } from "tsweb";\nimport * as ping from "./ping.server.ts";\n' +
      "export default new App({ modules: [ping], rate: { calls: 3, seconds: 3600 } });\n",
  ],
  ["src/ping.server.ts", 'import { server } from "tsweb";\nexport const ping = server(() => "pong");\n'],
]);

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };

const folder = createEmptyFolder();
let redis: RedisServer;
let application: Project;

beforeAll(async () => {
  redis = await RedisServer.start();
  ({ project: application } = await createInstalledProject(folder.dir, FILES));
});

afterAll(async () => {
  await redis?.stop();
  folder.remove();
});

/** Builds the application, and copies its dist folder to a folder without node_modules. */
async function buildInto(name: string): Promise<string> {
  await application.run("node_modules/.bin/tsweb", "build");
  const dir = join(folder.dir, name);
  cpSync(join(application.dir, "dist"), dir, { recursive: true });
  expect(nodeModulesAbove(dir)).toEqual([]);
  return dir;
}

async function callTimes(address: string, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let call = 0; call < times; call++) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${address}/__web/rpc/ping`, { method: "POST", headers, body: '{"args":{}}' });
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

/** Returns the statuses of two calls to each of two servers with one Redis, and what both have logged. */
async function callTwoServers(dir: string, url: string): Promise<{ statuses: number[]; output: string }> {
  const servers = await Promise.all([1, 2].map(() => startNode(dir, ["server.mjs"], { ...env, WEB_BUS_URL: url })));
  const statuses: number[] = [];
  for (const { address } of servers) statuses.push(...(await callTimes(address, 2)));
  for (const server of servers) expect(await server.stop()).toBe(0);
  return { statuses, output: servers.map((server) => server.output()).join("") };
}

describe("an application without ioredis", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await buildInto("without");
  });

  it("is served, and each process counts calls for itself", async () => {
    const server = await startNode(dir, ["server.mjs"], env);
    expect(await callTimes(server.address, 4)).toEqual([200, 200, 200, 429]);
    expect(await server.stop()).toBe(0);
    expect(server.output()).not.toContain("opentelemetry"); // which is not installed either
  });

  it("does not start if WEB_BUS_URL names a Redis, and prints what to install", async () => {
    const start = startNode(dir, ["server.mjs"], { ...env, WEB_BUS_URL: "redis://:mellon-0@127.0.0.1:1" });
    const output = await start.then(
      () => "The server started.",
      (error: Error) => error.message,
    );
    expect(output).toContain("exited with 1");
    expect(output).toContain("WEB_BUS_URL names a Redis, but the package ioredis could not be loaded");
    expect(output).toContain("npm install ioredis");
    expect(output).not.toMatch(/mellon|^ +at /m);
  });
});

describe("an application with ioredis", () => {
  let dir: string;
  beforeAll(async () => {
    await application.run("npm", ...NPM_INSTALL, "ioredis@5");
    dir = await buildInto("with");
  });

  it("shares the counts of two processes in Redis, without node_modules beside the build", async () => {
    // A process that gets no response from Redis within 250 ms counts for itself, and logs it: then again in an empty database.
    for (let database = 0; ; database++) {
      const { statuses, output } = await callTwoServers(dir, `${redis.url}/${database}`);
      expect(output).not.toContain("unreachable");
      if (output.includes("is slow") && database < 15) continue;
      expect(statuses).toEqual([200, 200, 200, 429]);
      return;
    }
  });
});
