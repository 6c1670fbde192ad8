/**
 * NATS in a built application. It works if the NATS client packages are installed in the application. An
 * application without them can be built and served, as long as it does not use NATS.
 */
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NatsServer } from "#test/nats-server";
import { startNode } from "#test/run-tsweb";
import {
  createEmptyFolder,
  createInstalledProject,
  NPM_INSTALL,
  nodeModulesAbove,
  type Project,
} from "./fresh-project.ts";

const FILES = new Map([
  ["package.json", '{ "name": "messages", "private": true, "type": "module" }\n'],
  [
    "src/app.ts",
    'import { App } from "tsweb";\nimport * as messages from "./messages.server.ts";\nexport default new App({ modules: [messages] });\n',
  ],
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
let nats: NatsServer;
let application: Project;

beforeAll(async () => {
  nats = await NatsServer.start();
  ({ project: application } = await createInstalledProject(folder.dir, FILES));
});

afterAll(async () => {
  await nats?.stop();
  folder.remove();
});

/** Builds the application, copies its dist folder to a folder without node_modules, and serves it. */
async function serveBuilt(name: string) {
  await application.run("node_modules/.bin/tsweb", "build");
  const dir = join(folder.dir, name);
  cpSync(join(application.dir, "dist"), dir, { recursive: true });
  expect(nodeModulesAbove(dir)).toEqual([]);
  return startNode(dir, ["server.mjs"], { ...env, NATS_URL: nats.url });
}

async function publishAndRead(address: string, text: string) {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ args: { text } });
  const response = await fetch(`${address}/__web/rpc/publish_and_read`, { method: "POST", headers, body });
  return { status: response.status, body: await response.json() };
}

describe("an application with a bus in NATS, without the client packages", () => {
  it("is built and served, and logs what to install when the bus is used", async () => {
    const server = await serveBuilt("without");
    expect(await publishAndRead(server.address, "hello")).toMatchObject({ status: 500 });
    expect(await server.stop()).toBe(0);
    expect(server.output()).toContain("npm install @nats-io/transport-node @nats-io/jetstream");
  });
});

describe("an application with a bus in NATS, with the client packages", () => {
  beforeAll(async () => {
    const packages = ["@nats-io/transport-node@3.3", "@nats-io/jetstream@3.3"];
    await application.run("npm", ...NPM_INSTALL, ...packages);
  });

  it("publishes and reads messages, without node_modules beside the build", async () => {
    const server = await serveBuilt("with");
    expect(await publishAndRead(server.address, "hello")).toEqual({ status: 200, body: { result: ['"hello"'] } });
    expect(await server.stop()).toBe(0);
  });
});
