/**
 * Redis and NATS in a built application. They work if their client packages are installed in the application. An application
 * without them can be built and served, as long as it does not use them.
 */
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import { startNode } from "#test/run-tsweb";
import {
  copyPackages,
  createEmptyFolder,
  createInstalledProject,
  nodeModulesAbove,
  type Project,
} from "./fresh-project.ts";

const FILES = new Map([
  ["package.json", '{ "name": "rated", "private": true, "type": "module" }\n'],
  [
    "src/app.ts",
    'import { App } from "tsweb";\nimport * as messages from "./messages.server.ts";\nimport * as ping from "./ping.server.ts";\n' +
      "export default new App({ modules: [messages, ping], rate: { calls: 3, seconds: 3600 } });\n",
  ],
  ["src/ping.server.ts", 'import { server } from "tsweb";\nexport const ping = server(() => "pong");\n'],
  [
    "src/messages.server.ts",
    'import { server } from "tsweb";\nimport { nats } from "tsweb/nats";\n' +
      'const bus = nats(process.env.NATS_URL ?? "nats://127.0.0.1:1");\n' +
      "export const publish_and_read = server(async (text: string) => {\n" +
      "  const [from] = await bus.position(['room']);\n" +
      "  await bus.publish('room', JSON.stringify(text));\n" +
      "  const { messages } = await bus.read('room', String(from), { messages: 10, bytes: 1000 });\n" +
      "  return messages.map(({ data }) => data);\n" +
      "});\n",
  ],
]);

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };

const folder = createEmptyFolder();
let redis: RedisServer;
let nats: NatsServer;
/** The built application without and with the client packages, in folders without node_modules. */
let without: string;
let withPackages: string;

beforeAll(async () => {
  [redis, nats] = await Promise.all([RedisServer.start(), NatsServer.start()]);
  const { project } = await createInstalledProject(folder.dir, FILES);
  without = await buildInto(project, "without");
  copyPackages(["ioredis", "@nats-io/transport-node", "@nats-io/jetstream"], project.dir);
  withPackages = await buildInto(project, "with");
});

afterAll(async () => {
  await Promise.all([redis?.stop(), nats?.stop()]);
  folder.remove();
});

/** Builds the application, and copies its dist folder to a folder without node_modules. */
async function buildInto(application: Project, name: string): Promise<string> {
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

async function publishAndRead(address: string, text: string) {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ args: { text } });
  const response = await fetch(`${address}/__web/rpc/publish_and_read`, { method: "POST", headers, body });
  return { status: response.status, body: await response.json() };
}

describe("an application without ioredis", () => {
  it("is served, and each process counts calls for itself", async () => {
    const server = await startNode(without, ["server.mjs"], env);
    expect(await callTimes(server.address, 4)).toEqual([200, 200, 200, 429]);
    expect(await server.stop()).toBe(0);
    expect(server.output()).not.toContain("opentelemetry"); // which is not installed either
  });

  it("does not start if WEB_BUS_URL names a Redis, and prints what to install", async () => {
    const start = startNode(without, ["server.mjs"], { ...env, WEB_BUS_URL: "redis://:mellon-0@127.0.0.1:1" });
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
  it("shares the counts of two processes in Redis, without node_modules beside the build", async () => {
    // A process that gets no response from Redis within 250 ms counts for itself, and logs it: then again in an empty database.
    for (let database = 0; ; database++) {
      const { statuses, output } = await callTwoServers(withPackages, `${redis.url}/${database}`);
      expect(output).not.toContain("unreachable");
      if (output.includes("is slow") && database < 15) continue;
      expect(statuses).toEqual([200, 200, 200, 429]);
      return;
    }
  });
});

describe("an application with a bus in NATS, without the client packages", () => {
  it("is built and served, and logs what to install when the bus is used", async () => {
    const server = await startNode(without, ["server.mjs"], { ...env, NATS_URL: nats.url });
    expect(await publishAndRead(server.address, "hello")).toMatchObject({ status: 500 });
    expect(await server.stop()).toBe(0);
    expect(server.output()).toContain("npm install @nats-io/transport-node @nats-io/jetstream");
  });
});

describe("an application with a bus in NATS, with the client packages", () => {
  it("publishes and reads messages, without node_modules beside the build", async () => {
    const server = await startNode(withPackages, ["server.mjs"], { ...env, NATS_URL: nats.url });
    expect(await publishAndRead(server.address, "hello")).toEqual({ status: 200, body: { result: ['"hello"'] } });
    expect(await server.stop()).toBe(0);
  });
});
