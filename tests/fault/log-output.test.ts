/**
 * Built servers whose standard output cannot be written: a full device, a full disk, and pipes that nobody reads. They
 * continue to serve, and they stop.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdirSync, openSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProcesses } from "#test/built-processes";
import { callFunction, sendCall } from "#test/call-function";
import { SECRET } from "#test/environment";
import { freePort } from "#test/free-port";
import { fillDisk, mountTmpfs, unmount } from "#test/full-disk";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";

/** The log lines of this many failures are larger than the buffer of a process: each has its message twice. */
const FAILURES = 40;

let site: TestProject;
let redis: RedisServer;
let running: ChildProcess[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
  site = await buildProcesses();
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  site?.remove();
  return redis?.stop();
});

interface Server {
  readonly address: string;
  readonly child: ChildProcess;
}

/** Starts the built server, and waits until it responds, because its output cannot be read. */
async function start(stdout: number | "pipe", env: Readonly<Record<string, string>> = {}): Promise<Server> {
  const port = await freePort();
  const { NODE_ENV: _env, VITEST: _vitest, ...inherited } = process.env;
  const child = spawn(process.execPath, ["dist/server.mjs"], {
    cwd: site.dir,
    env: {
      ...inherited,
      HOST: "127.0.0.1",
      PORT: String(port),
      WEB_ENV: "production",
      WEB_AUTH_SECRET: SECRET,
      ...env,
    },
    stdio: ["ignore", stdout, "inherit"],
  });
  running.push(child);
  const address = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(`${address}/healthz`).then(({ status }) => status, String)).toBe(200);
  return { address, child };
}

/** Makes calls that fail, and whose errors are logged. */
async function failCalls({ address }: Server, count = FAILURES, first = 0): Promise<void> {
  for (let n = first; n < first + count; n++) expect((await sendCall(address, "fail", { n })).status).toBe(500);
}

/** Sends SIGTERM, and returns how the process has ended and how many milliseconds that took. */
async function stop({ child }: Server): Promise<{ readonly code: number | null; readonly ms: number }> {
  const startMs = performance.now();
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = await exited;
  running = running.filter((other) => other !== child);
  return { code, ms: performance.now() - startMs };
}

/** Returns the numbers of the logged failures, and the sum of the dropped lines. Each line must be complete JSON. */
function readLog(text: string) {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const failures = lines.flatMap(({ err }) => /^failure (\d+)/.exec(err?.message ?? "")?.[1] ?? []).map(Number);
  const reports = lines.filter(({ dropped }) => dropped !== undefined);
  return { failures, reports, dropped: reports.reduce((sum: number, { dropped }) => sum + dropped, 0) };
}

const reportsDrops = (text: string) => text.includes("log lines were dropped");

const increasing = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

describe("a server whose standard output is a full device", () => {
  it("answers calls that log errors, prints of the application and /healthz, and stops [REQUEST-76]", async () => {
    const device = openSync("/dev/full", "w");
    const server = await start(device);
    closeSync(device);
    await failCalls(server);
    expect(await callFunction(server.address, "print", { n: 1 })).toBe(1);
    expect((await fetch(`${server.address}/healthz`)).status).toBe(200);
    const { code, ms } = await stop(server);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
  });
});

describe("a server whose standard output is a file on a full disk", () => {
  it("answers, continues its log when space is free, and reports the number of dropped lines [REQUEST-74]", async () => {
    const disk = site.file("disk");
    mkdirSync(disk);
    mountTmpfs(disk, "2m");
    try {
      const log = join(disk, "log");
      const filler = join(disk, "filler");
      writeFileSync(filler, "x".repeat(1024 * 1024));
      const file = openSync(log, "a");
      const server = await start(file);
      closeSync(file);
      fillDisk(join(disk, "rest"));
      await failCalls(server);
      expect(await callFunction(server.address, "print", { n: 1 })).toBe(1);
      expect((await fetch(`${server.address}/healthz`)).status).toBe(200);
      for (const name of [filler, join(disk, "rest")]) truncateSync(name);
      await expect.poll(() => reportsDrops(readFileSync(log, "utf8"))).toBe(true);
      await failCalls(server, 3, FAILURES);
      const { failures, dropped, reports } = readLog(readFileSync(log, "utf8"));
      expect(failures).toEqual(increasing(failures));
      expect(failures.slice(-3)).toEqual([FAILURES, FAILURES + 1, FAILURES + 2]);
      expect(dropped + failures.length).toBe(FAILURES + 3);
      expect(reports).toEqual([
        expect.objectContaining({ level: "warn", msg: expect.stringMatching(/^\d+ log lines were dropped.*ENOSPC/) }),
      ]);
      expect((await stop(server)).code).toBe(0);
    } finally {
      unmount(disk);
    }
  });
});

/** Opens a named pipe: its reading end, which is not read, and its writing end. */
function openPipe(name: string): { readonly reader: number; readonly writer: number } {
  execFileSync("mkfifo", [site.file(name)]);
  const reader = openSync(site.file(name), constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(site.file(name), "w") };
}

describe("a server whose standard output is a pipe that nobody reads", () => {
  it("answers and stops", async () => {
    const { reader, writer } = openPipe("unread");
    const server = await start(writer);
    closeSync(writer);
    await failCalls(server);
    expect(await callFunction(server.address, "print", { n: 1 })).toBe(1);
    const { code, ms } = await stop(server);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
    closeSync(reader);
  });

  it("also if it has several processes", async () => {
    const { reader, writer } = openPipe("unread-by-workers");
    const server = await start(writer, { WEB_WORKERS: "2", WEB_BUS_URL: redis.url });
    closeSync(writer);
    await failCalls(server);
    const { code, ms } = await stop(server);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
    closeSync(reader);
  });

  it("continues its log in order when the pipe is read, and reports the number of dropped lines [REQUEST-75]", async () => {
    const { reader, writer } = openPipe("read-later");
    const server = await start(writer);
    closeSync(writer);
    await failCalls(server);
    let text = "";
    const pipe = new Socket({ fd: reader, readable: true, writable: false });
    const ended = once(pipe, "end");
    pipe.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    await expect.poll(() => reportsDrops(text)).toBe(true);
    await failCalls(server, 3, FAILURES);
    expect((await stop(server)).code).toBe(0);
    await ended;
    const { failures, dropped } = readLog(text);
    expect(failures).toEqual(increasing(failures));
    expect(failures.slice(-3)).toEqual([FAILURES, FAILURES + 1, FAILURES + 2]);
    expect(dropped + failures.length).toBe(FAILURES + 3);
  });

  it("answers and stops, and continues its log, when the pipe is a socket, as under systemd", async () => {
    const server = await start("pipe", { WEB_WORKERS: "2", WEB_BUS_URL: redis.url });
    await failCalls(server, 2 * FAILURES);
    let text = "";
    server.child.stdout?.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    await expect.poll(() => reportsDrops(text)).toBe(true);
    server.child.stdout?.pause();
    await failCalls(server);
    const { code, ms } = await stop(server);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
  });
});

describe("a server whose standard output is a pipe that was closed", () => {
  it("answers calls that log errors, prints of the application and /healthz, and stops", async () => {
    const server = await start("pipe");
    server.child.stdout?.destroy();
    await failCalls(server);
    expect(await callFunction(server.address, "print", { n: 1 })).toBe(1);
    expect((await fetch(`${server.address}/healthz`)).status).toBe(200);
    expect((await stop(server)).code).toBe(0);
  });
});
