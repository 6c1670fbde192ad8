/**
 * An application that scripts call, over HTTP and in their own process, and its OpenAPI document.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { build, type RunningServer, runScript, runTsweb, startDev, startNode } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const FILES = {
  "package.json": '{ "name": "shop", "version": "2.0.1", "private": true, "type": "module" }\n',
  "src/shop.server.ts": `
    import { RPCError, server, session, type int } from "tsweb";

    export const add = server((a: int, b: int = 10) => a + b);
    export const order = server(({ item, quantity = 1 }: { item: string; quantity?: int }) => ({ item, quantity }));
    export const countdown = server(async function* (from: int = 3) {
      for (let n = from; n > 0; n--) yield n;
    });
    export const login = server((name: string) => session.login(name, { name }));
    export const whoami = server({ auth_required: true }, () => session.user()?.name);
    export const refuse = server(() => {
      throw new RPCError("conflict", "Taken.", { parameter: "name" });
    });
  `,
  // `using` at the top level, in functions, and in JavaScript. Node runs it from version 24.
  "src/lock.js": `
    const released = [];
    export const lock = (name) => ({ released, [Symbol.dispose]: () => void released.push(name) });
    export async function* locked() {
      await using _file = { [Symbol.asyncDispose]: async () => void released.push("file") };
      yield released.length;
    }
  `,
  "src/locks.server.ts": `
    import { server } from "tsweb";
    import { lock, locked } from "./lock.js";

    using _start = lock("start");
    export const locks = server(async () => {
      const { released } = _start;
      {
        using _first = lock("first");
        await using _second = lock("second");
        for await (const _count of locked()) break;
      }
      return released.splice(0);
    });
  `,
  "src/pages.server.tsx": `
    import { page, redirect, session } from "tsweb";

    export const home = page("/", () => <h1>Hello {session.user()?.sub ?? "guest"}</h1>);
    export const old = page("/old", () => redirect("/"));
  `,
  "src/app.ts": `
    import { App } from "tsweb";
    import * as locks from "./locks.server.ts";
    import * as pages from "./pages.server.tsx";
    import * as shop from "./shop.server.ts";

    console.log("The application is loaded.");
    export default new App({ title: "Shop", base: "/shop", modules: [shop, pages, locks] });
    setInterval(() => undefined, 60_000); // a database would keep the process alive as well
  `,
  "scripts/call.ts": `
    import { client, RPCError } from "tsweb/client";

    for (const address of process.argv.slice(2)) {
      const shop = client<typeof import("../src/shop.server.ts")>(address);
      const { locks } = client<typeof import("../src/locks.server.ts")>(address);
      const values: number[] = [];
      for await (const n of shop.countdown(3)) values.push(n);
      const before = await shop.whoami().catch((error) => error instanceof RPCError && error.code);
      await shop.login("ada");
      console.log(
        JSON.stringify({
          sum: await shop.add(1, 2),
          named: await shop.add.named({ a: "5" }),
          ordered: await shop.order({ item: "tea" }),
          values,
          locks: await locks(),
          before,
          after: await shop.whoami(),
          refused: await shop.refuse().catch(({ code, message, details }) => ({ code, message, details })),
        }),
      );
    }
  `,
  "scripts/simulate-user.ts": `
    import { visitor } from "tsweb/testing";
    import app from "../src/app.ts";
    import type * as shop from "../src/shop.server.ts";

    const user = visitor(app);
    const { status, location } = await user.get("/shop/old");
    const before = await user.rpc("whoami").catch(({ code }) => code);
    user.login("ada", { name: "Ada" });
    const values: unknown[] = [];
    for await (const n of user.stream("countdown", { from: 2 })) values.push(n);
    const text = (await user.get("/shop/old", { follow: true })).text;
    const sum = await user.client<typeof shop>().add(1);
    const locks = await user.rpc("locks");
    console.log(JSON.stringify({ status, location, before, after: await user.rpc("whoami"), values, text, sum, locks }));
    process.exit();
  `,
} as const;

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex"), WEB_CSRF_SECRET: randomBytes(32).toString("hex") };

let site: TestProject;
beforeAll(() => {
  site = TestProject.fromFiles(FILES);
});
afterAll(() => site?.remove());

/** Returns the JSON on the last line of a script's output. */
function lastJson(output: string): unknown {
  return JSON.parse(output.trim().split("\n").at(-1) ?? "");
}

async function expectValid(document: Readonly<Record<string, unknown>>): Promise<void> {
  const { errors } = await new Validator().validate(structuredClone(document));
  expect(errors ?? []).toEqual([]);
}

const PATHS = ["add", "order", "countdown", "login", "whoami", "refuse", "locks"].map(
  (name) => `/shop/__web/rpc/${name}`,
);

/** What the declarations with `using` have released, in this order. */
const LOCKS = ["start", "file", "second", "first"];

const RESULT = {
  sum: 3,
  named: 15,
  ordered: { item: "tea", quantity: 1 },
  values: [3, 2, 1],
  locks: LOCKS,
  before: "unauthenticated",
  after: "ada",
  refused: { code: "conflict", message: "Taken.", details: { parameter: "name" } },
};

describe("an application", () => {
  let built: RunningServer;
  let dev: RunningServer;
  beforeAll(async () => {
    await build(site.dir);
    built = await startNode(site.dir, ["dist/server.mjs"], env);
    dev = await startDev(site.dir, env);
  });
  afterAll(() => Promise.all([built?.stop(), dev?.stop()]));

  it("can be called by a script that imports only the types of its module, built and in development", async () => {
    const addresses = [built, dev].map(({ address }) => `${address}/shop`);
    const output = await runScript(site.dir, ["scripts/call.ts", ...addresses], env);
    expect(
      output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([RESULT, RESULT]); // no application is loaded
  });

  it("does not serve its OpenAPI document when it is built", async () => {
    expect((await fetch(`${built.address}/shop/__web/openapi.json`)).status).toBe(404);
  });

  it("serves its OpenAPI document in development, with the version of the project", async () => {
    const response = await fetch(`${dev.address}/shop/__web/openapi.json`);
    expect(response.status).toBe(200);
    const document = await response.json();
    await expectValid(document);
    expect(document.info.version).toBe("2.0.1");
    expect(Object.keys(document.paths)).toEqual(PATHS);
  });
});

describe("visitor() in a script", () => {
  it("runs requests through the whole pipeline", async () => {
    expect(lastJson(await runScript(site.dir, ["scripts/simulate-user.ts"], env))).toEqual({
      status: 303,
      location: "/shop/",
      before: "unauthenticated",
      after: "Ada",
      values: [2, 1],
      text: expect.stringContaining("Hello ada"),
      sum: 11,
      locks: LOCKS,
    });
  });
});

describe("tsweb openapi", () => {
  it("prints only the document to stdout, and exits although the application keeps the process alive", async () => {
    const args = [join(repository, "bin/tsweb.js"), "openapi", site.dir];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
    expect(stderr).toContain("The application is loaded.");
    const document = JSON.parse(stdout);
    await expectValid(document);
    expect(document.info).toMatchObject({ title: "Shop", version: "2.0.1" });
    expect(Object.keys(document.paths)).toEqual(PATHS);
  });
});

describe("tsweb routes", () => {
  it("lists pages and functions with their locations, and marks unchecked parameters", async () => {
    const { code, output } = await runTsweb(site.dir, ["routes"], env);
    expect(code).toBe(0);
    expect(output).toMatch(/GET +\/shop\/old +src\/pages\.server\.tsx:5\n/);
    expect(output).toMatch(/add\(a: int, b\?: int\) +src\/shop\.server\.ts:4\n/);
    expect(output).toMatch(/order\(\{ item: string\*, quantity\?: int \}\) /);
    expect(output).toMatch(/countdown\(from\?: int\) {2}\(stream\) /);
    expect(output).toMatch(/locks\(\) +src\/locks\.server\.ts:6\n/);
    expect(output).toMatch(/whoami\(\) {2}\(auth_required\) /);
    expect(output).toContain("* Not checked");
  });

  it("reports a folder without an application", async () => {
    const empty = TestProject.fromFiles({ "src/app.ts": "export default 1;" });
    const without = TestProject.fromFiles({});
    expect(await runTsweb(empty.dir, ["routes"])).toMatchObject({
      code: 1,
      output: expect.stringContaining("src/app.ts must export the application as its default"),
    });
    expect(await runTsweb(without.dir, ["routes"])).toMatchObject({
      code: 1,
      output: expect.stringContaining("No application in"),
    });
    empty.remove();
    without.remove();
  });
});
