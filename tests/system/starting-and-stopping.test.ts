/**
 * How servers start, fail to start, and stop.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildSite } from "#test/built-site";
import { openSocket, parseResponse, readToEnd, readUntil, sendRequest } from "#test/raw-http";
import { type Environment, type RunningServer, runTsweb, startDev, startNode, startServe } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };

let site: TestProject;

beforeAll(async () => {
  site = await buildSite();
});

afterAll(() => site?.remove());

/** Starts the built application. */
const start = (variables: Environment) => startNode(site.dir, ["dist/server.mjs"], variables);

/** Starts a call that ends when it is released. */
async function startSlowCall(server: RunningServer) {
  const name = randomBytes(4).toString("hex");
  const [started, release] = [`started-${name}`, `release-${name}`] as const;
  const body = JSON.stringify({ args: { started: site.file(started), release: site.file(release) } });
  const socket = await openSocket(server.address);
  socket.write(
    "POST /__web/rpc/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await expect.poll(() => existsSync(site.file(started))).toBe(true);
  return { socket, finish: () => site.write(release, "") };
}

/** Returns whether a server refuses connections. A connection that waited while the server closed is reset. */
async function refusesConnections(address: string): Promise<boolean> {
  try {
    const socket = await openSocket(address);
    const end = readToEnd(socket);
    socket.destroy();
    await end;
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  }
}

describe("a built server", () => {
  let server: RunningServer;

  beforeEach(async () => {
    server = await start(env);
    return () => server.stop();
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "on %s completes calls in flight, refuses new connections, and exits with 0",
    async (signal) => {
      const idle = await openSocket(server.address);
      const idleEnd = readToEnd(idle);
      idle.write("GET /plain HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await readUntil(idle, /No view here/);
      const { socket, finish } = await startSlowCall(server);
      const response = readToEnd(socket);

      server.signal(signal);
      expect((await idleEnd).isReset).toBe(false);
      await expect.poll(() => refusesConnections(server.address)).toBe(true);
      finish();

      const { text, isReset: isBroken } = await response;
      expect(parseResponse({ text, isReset: isBroken })).toMatchObject({
        status: 200,
        body: expect.stringContaining('{"result":"finished"}'),
      });
      expect(text).toContain("Connection: close\r\n");
      expect(isBroken).toBe(false);
      expect(await server.exited).toBe(0);
      expect(server.output()).toContain("Stopping");
    },
  );

  it("does not wait for connections without a request when it stops, on SIGHUP too, and exits with 0 at once", async () => {
    const sockets = await Promise.all([1, 2, 3].map(() => openSocket(server.address)));
    // The server accepts connections in order: these before the one of the next request.
    expect((await sendRequest(server.address, "GET /readyz HTTP/1.1", "Host: localhost")).status).toBe(200);
    const startedAt = performance.now();
    const ends = sockets.map((socket) => readToEnd(socket));
    server.signal("SIGHUP"); // a single process cannot use it to restart
    expect(await server.exited).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect((await Promise.all(ends)).map(({ text }) => text)).toEqual(["", "", ""]);
    expect(server.output().trimEnd()).toMatch(/"msg":"Stopped"\}$/);
  });

  // For two times SIGTERM, see the drain.
  it.each([
    ["SIGINT", "SIGINT"],
    ["SIGTERM", "SIGINT"],
  ] as const)("on %s, then %s, exits without waiting", async (first, second) => {
    const { socket } = await startSlowCall(server);
    const response = readToEnd(socket);
    server.signal(first);
    await expect.poll(() => server.output()).toContain("Stopping");
    server.signal(second);
    expect(await server.exited).toBe(1);
    expect(server.output()).toContain(
      `"signal":"${second}","count":1,"msg":"Requests were cut off by a second signal"`,
    );
    expect((await response).text).toBe("");
  });
});

describe("on_start", () => {
  it.each([
    ["one process", {}, 1],
    ["several processes", { WEB_ENV: "development", WEB_WORKERS: "2", WEB_BUS_URL: "redis://127.0.0.1:1" }, 2],
  ])("runs once in each process that serves, before the port opens: %s", async (_, more, times) => {
    const server = await start({ ...env, ...more });
    await expect.poll(() => server.output().split("Listening at").length).toBe(times + 1);
    expect(server.output()).toMatch(/on_start runs[\s\S]*Listening at/);
    expect(server.output().split("on_start runs")).toHaveLength(times + 1);
    expect((await sendRequest(server.address, "GET /plain HTTP/1.1", "Host: localhost")).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(server.output().split("on_start runs")).toHaveLength(times + 1);
  });

  it("ends the start of the server with its error if it fails", async () => {
    const { code, output } = await runTsweb(site.dir, ["serve"], { ...env, START_FAILS: "1" });
    expect(code).toBe(1);
    expect(output).toContain("on_start of new App failed, so that the application does not start.");
    expect(output).toMatch(/The database is missing.*src\/app\.ts:/);
    expect(output).not.toContain("Listening");
  });

  // For tsweb routes and tsweb openapi, see tests/system/commands.test.ts.
  it("does not run for tsweb check --production", async () => {
    const { output } = await runTsweb(site.dir, ["check", "--production"], env);
    expect(output).toContain("WEB_ORIGIN is not set");
    expect(output).not.toContain("on_start runs");
  });
});

describe("tsweb check --production", () => {
  const production = { ...env, WEB_ORIGIN: "https://shop.example", WEB_TRUST_PROXY: "1", WEB_COOKIE_SECURE: "1" };
  const check = (more: Readonly<Record<string, string>> = {}, dir = site.dir) =>
    runTsweb(dir, ["check", "--production"], { ...production, ...more });

  it("loads the built application, which accepts the environment", async () => {
    const { code, output } = await check();
    expect([code, output.includes("The application in dist was loaded with it, and would start.")]).toEqual([0, true]);
  });

  it.each([
    ["workers without a bus", { WEB_WORKERS: "2" }, "WEB_WORKERS is 2, but the processes have no shared bus"],
    ["a host of another machine", { HOST: "192.0.2.1" }, "is 192.0.2.1, on which this machine cannot listen"],
    ["a module that throws", { LOADING_FAILS: "1" }, "dist/app.mjs cannot be loaded: Error: The licence is missing"],
    ["a module that ends the process", { LOADING_EXITS: "1" }, "its modules end the process with status 3"],
  ])("reports what prevents the start: %s", async (_, more, message) => {
    const { code, output } = await check(more);
    expect(output).toContain(message);
    expect(code).toBe(1);
  });

  it.each([{ WEB_WORKERS: "2" }, { HOST: "192.0.2.1" }, { LOADING_FAILS: "1" }, { LOADING_EXITS: "1" }])(
    "reports what ends the start of tsweb serve: %j",
    async (more) => {
      const { code } = await runTsweb(site.dir, ["serve"], { ...production, ...more });
      expect([0, null]).not.toContain(code);
    },
  );

  it("reports a missing package without a build too", async () => {
    const empty = TestProject.fromFiles({});
    const { code, output } = await check({ WEB_METRICS_TOKEN: "a".repeat(32) }, empty.dir);
    empty.remove();
    expect(output).toContain("WEB_METRICS_TOKEN is set, but the package prom-client is not installed");
    expect(code).toBe(1);
  });
});

describe("a built server with a drain", () => {
  const exitOf = async (server: RunningServer, signals: readonly NodeJS.Signals[]) => {
    for (const [at, signal] of signals.entries()) {
      server.signal(signal);
      if (at === 0) await expect.poll(() => server.output()).toContain("Stopping");
    }
    return server.exited;
  };

  it("answers /readyz with 503 and serves new connections during it, until a second SIGTERM", async () => {
    const server = await start({ ...env, WEB_DRAIN_SECONDS: "3600" });
    server.signal("SIGTERM");
    await expect.poll(() => server.output()).toContain("Stopping");
    expect((await sendRequest(server.address, "GET /readyz HTTP/1.1", "Host: localhost")).status).toBe(503);
    expect((await sendRequest(server.address, "GET /plain HTTP/1.1", "Host: localhost")).status).toBe(200);
    server.signal("SIGTERM");
    expect(await server.exited).toBe(1);
    expect(server.output()).toContain("Stopping at once, because of a second signal");
    expect(server.output()).not.toContain("cut off");
  });

  it("closes its port and exits with 0 after it", async () => {
    const server = await start({ ...env, WEB_DRAIN_SECONDS: "1" });
    expect(await exitOf(server, ["SIGTERM"])).toBe(0);
    expect(await refusesConnections(server.address)).toBe(true);
  });

  it("exits with 1 if a call has not ended after WEB_STOP_SECONDS, and logs the function", async () => {
    const server = await start({ ...env, WEB_STOP_SECONDS: "1" });
    const { socket } = await startSlowCall(server);
    const response = readToEnd(socket);
    expect(await exitOf(server, ["SIGTERM"])).toBe(1);
    expect((await response).text).toBe("");
    expect(server.output()).toMatch(/"level":"error".*"route":"call slow","count":1.*"msg":"Requests were cut off/);
  });
});

describe("a server that cannot start", () => {
  it.each(["serve", "dev"])("tsweb %s reports that its port is in use", async (command) => {
    const blocker = createServer();
    await new Promise<void>((listening) => blocker.listen(0, "127.0.0.1", listening));
    const { port } = blocker.address() as AddressInfo; // it listens on a port
    const { code, output } = await runTsweb(site.dir, [command], { ...env, PORT: String(port) });
    blocker.close();
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} of 127.0.0.1 is in use.`);
    expect(output).not.toMatch(/\n {4}at /);
  });

  it.each([{}, { WEB_ENV: "production" }])(
    "reports which secret is missing, and how to create one: %j",
    async (more) => {
      const { code, output } = await runTsweb(site.dir, ["serve"], { WEB_AUTH_SECRET: "", ...more });
      expect(code).toBe(1);
      expect(output).toMatch(/^WEB_AUTH_SECRET is not set, but production requires it/);
      expect(output).toContain("Create one with: node -e");
      expect(output).not.toMatch(/\n {4}at /);
    },
  );

  it("reports which build is missing", async () => {
    const empty = TestProject.fromFiles({});
    const { code, output } = await runTsweb(empty.dir, ["serve"]);
    expect([code, output]).toEqual([
      1,
      `No built application in ${empty.file("dist")}: server.mjs does not exist. Build it first: tsweb build\n`,
    ]);
    empty.remove();
  });

  it.each(["dev", "build"])("tsweb %s reports which application is missing", async (command) => {
    const empty = TestProject.fromFiles({ "src/other.ts": "" });
    const { code, output } = await runTsweb(empty.dir, [command]);
    expect(code).toBe(1);
    expect(output).toBe(
      `No application in ${empty.dir}: src/app.ts does not exist. Create it with export default new App({…}), or name the application's folder.\n`,
    );
    empty.remove();
  });

  // For tsweb build, see tests/system/commands.test.ts.
  it("tsweb dev shows that src/app.ts exports no application, and keeps running", async () => {
    const wrong = TestProject.fromFiles({ "src/app.ts": "export const app = 1;\n" });
    const dev = await startDev(wrong.dir);
    const shown = await sendRequest(dev.address, "GET / HTTP/1.1", "Host: localhost");
    expect(shown.status).toBe(500);
    expect(shown.body).toContain("src/app.ts must export the application as its default");
    expect(dev.output().split("src/app.ts must export the application as its default")).toHaveLength(2);
    expect(dev.output()).toContain("src/app.ts:1:1\n");
    expect(await dev.stop()).toBe(0);
    wrong.remove();
  });

  it("tsweb --version prints the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await runTsweb(site.dir, ["--version"])).toMatchObject({ code: 0, output: `${version}\n` });
  });

  it.each([
    [["sevre"], "Unknown command sevre. Did you mean `tsweb serve`?"],
    [["x"], "Unknown command x. The commands are new, dev, build,"],
    [["dev", "--port", "4000"], "Set the environment variable PORT: `PORT=4000 tsweb dev`"],
    [["serve", "dist", "-p4000"], "Set the environment variable PORT: `PORT=4000 tsweb serve`"],
    [["--host=0.0.0.0", "dev"], "Set the environment variable HOST: `HOST=0.0.0.0 tsweb dev`"],
    [["start"], "Unknown command start. `tsweb serve` serves a built application, and `tsweb dev` one in development."],
    [["preview", "dist"], "Unknown command preview. `tsweb serve` serves a built application"],
    [["generate"], "Unknown command generate. `tsweb new` creates a project."],
    [
      ["dev", "4000"],
      "/4000: src/app.ts does not exist. To select a port, set the environment variable PORT: `PORT=4000 tsweb dev`.",
    ],
    [["dev", "src/app.ts"], "/src/app.ts. Leave the argument out: the current folder is that folder."],
    [["build", "src"], "/src. Leave the argument out: the current folder is that folder."],
    [["build", "--watch"], "tsweb has no option --watch. `tsweb dev` serves the application and applies each edit."],
    [
      ["build", "--outDir", "out"],
      "tsweb has no option --outDir. `tsweb build` writes into dist in the application's folder.",
    ],
    [["check", "--prod"], "tsweb has no option --prod. Did you mean `--production`?"],
    [["build", "--keep-form=x"], "tsweb has no option --keep-form. Did you mean `--keep-from`?"],
    [["dev", "a", "b"], "Too many arguments for tsweb dev: b. It takes one folder."],
    [["build", "--fast"], "--fast"],
  ])(
    "tsweb %j reports the mistake in its arguments, and prints the whole help only if no option is similar",
    async (args, message) => {
      const { code, output } = await runTsweb(site.dir, args);
      expect([code, output.includes(message), /\n {4}at /.test(output)]).toEqual([1, true, false]);
      expect(output.includes("tsweb new <folder>")).toBe(message === "--fast");
    },
  );
});

it("tsweb serve serves the application as node dist/server.mjs does", async () => {
  const server = await startServe(site.dir, env);
  expect((await sendRequest(server.address, "GET /plain HTTP/1.1", "Host: localhost")).status).toBe(200);
  expect(await server.stop()).toBe(0);
});
