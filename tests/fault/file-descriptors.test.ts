/** Built servers with a low limit of open files (`ulimit -n`), which connections count towards. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProcesses } from "#test/built-processes";
import { callFunction } from "#test/call-function";
import { openSocket } from "#test/raw-http";
import { RedisServer } from "#test/redis-server";
import { type RunningServer, startProgram } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

let site: TestProject;
beforeAll(async () => {
  site = await buildProcesses();
});
afterAll(() => site?.remove());

/** Starts the built server with a limit of open files. */
function start(limit: number, variables: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
  const command = `ulimit -n ${limit}; exec "${process.execPath}" dist/server.mjs`;
  return startProgram("/bin/sh", ["-c", command], {
    dir: site.dir,
    env: { WEB_ENV: "development", ...variables },
  });
}

/** Sends a request on a connection that stays open. Resolves with the status, or with `closed`. Fails after 10 seconds. */
async function request(address: string, sockets: Socket[]): Promise<string> {
  const socket = await openSocket(address);
  sockets.push(socket);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The connection is neither answered nor closed.")), 10_000);
    const settle = (outcome: string) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    socket.on("data", (data) => settle(String(data).slice(9, 12)));
    socket.on("error", () => settle("closed")).on("close", () => settle("closed"));
    socket.write("POST /__web/rpc/read_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    socket.write('Content-Length: 11\r\n\r\n{"args":{}}');
  });
}

const countOf = (text: string, search: RegExp) => text.match(new RegExp(search, "g"))?.length ?? 0;

describe("a server whose connections use up its file descriptors", () => {
  it("closes further ones at once, answers the others, logs the fix once, and recovers", async () => {
    const server = await start(160);
    const sockets: Socket[] = [];
    const outcomes: string[] = [];
    for (let n = 0; n < 200; n++) outcomes.push(await request(server.address, sockets));
    const answered = outcomes.filter((outcome) => outcome === "200").length;
    expect(new Set(outcomes)).toEqual(new Set(["200", "closed"])); // not 500: the function can open a file
    expect(answered).toBeGreaterThan(80);
    expect(countOf(server.output(), /File descriptors have run out.*ulimit -n/)).toBe(1);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => request(server.address, sockets)).toBe("200");
    for (const socket of sockets) socket.destroy();
    expect(await server.stop()).toBe(0);
  });
});

describe("a server whose connections are all held by one client with half-sent requests", () => {
  it.each([1, 2])("answers another client within 5 seconds, with %d processes [REQUEST-66]", async (workers) => {
    const redis = await RedisServer.start();
    const server = await start(160, { WEB_WORKERS: String(workers), WEB_BUS_URL: redis.url });
    const port = Number(new URL(server.address).port);
    const sockets: Socket[] = [];
    const open = (localAddress: string, bytes: string): Socket => {
      const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => undefined);
      sockets.push(socket);
      socket.write(bytes);
      return socket;
    };
    for (let n = 0; n < workers * 120; n++) open("127.0.0.1", "GET / HTTP/1.1\r\nHost: local").resume();
    const answers: string[] = [];
    const send = () =>
      open("127.0.0.2", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").on("data", (data) =>
        answers.push(String(data).slice(0, 15)),
      );
    const poll = () => {
      send();
      return answers;
    };
    // Sooner than the time limit of headers, 10 seconds.
    await expect.poll(poll, { timeout: 5_000, interval: 200 }).toContain("HTTP/1.1 200 OK");
    await expect.poll(() => server.output()).toMatch(/One client held a large part/);
    for (const socket of sockets) socket.destroy();
    expect(await server.stop()).toBe(0);
    await redis.stop();
  });
});

describe("a server whose application uses up its file descriptors", () => {
  it("logs that within a second, survives, and accepts connections when descriptors are free", async () => {
    const server = await start(160);
    expect(await callFunction(server.address, "take_all")).toBe("EMFILE");
    await expect.poll(() => server.output()).toMatch(/File descriptors have run out.*EMFILE/);
    const sockets: Socket[] = [];
    await expect.poll(() => request(server.address, sockets)).toBe("200");
    for (const socket of sockets) socket.destroy();
    expect(countOf(server.output(), /File descriptors have run out/)).toBe(1);
    expect(await server.stop()).toBe(0);
  });
});

describe("a server that starts", () => {
  it.each([
    [4_095, 1],
    [4_096, 0],
  ])("with a limit of %i open files logs %i warnings with the fix", async (limit, count) => {
    const server = await start(limit);
    await expect.poll(() => server.output()).toMatch(/Listening at/);
    expect(countOf(server.output(), new RegExp(`only ${limit} open files.*ulimit -n`))).toBe(count);
    expect(await server.stop()).toBe(0);
  });
});
