/**
 * Several processes that share one port: `WEB_WORKERS`.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProcesses } from "#test/built-processes";
import { RedisServer } from "#test/redis-server";
import { type RunningServer, runTsweb, startBuilt, startServe } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

// No Redis listens on this port: the processes log that it is unreachable, and serve anyway.
const ENV = { WEB_ENV: "development", WEB_WORKERS: "2", WEB_BUS_URL: "redis://127.0.0.1:1", LOADING_MS: "1" };

let site: TestProject;
beforeAll(async () => {
  site = await buildProcesses();
});
afterAll(() => site?.remove());

async function call(server: RunningServer, name: string): Promise<number> {
  const headers = { "content-type": "application/json", connection: "close" };
  const response = await fetch(`${server.address}/__web/rpc/${name}`, { method: "POST", headers, body: '{"args":{}}' });
  return (await response.json()).result;
}

/** Calls until this many processes have responded, and returns their ids. */
async function respondingPids(server: RunningServer, count: number, except: readonly number[] = []): Promise<number[]> {
  const pids = new Set<number>();
  await expect
    .poll(async () => {
      const pid = await call(server, "pid");
      if (!except.includes(pid)) pids.add(pid);
      return pids.size;
    })
    .toBe(count);
  return [...pids];
}

/** Returns the signals that the processes have logged when they stopped. In development, the log is text. */
function stopSignals(server: RunningServer): string[] {
  const lines = server.output().matchAll(/^Stopping: waiting for requests in flight {2}signal=(\w+) /gm);
  return [...lines].map(([, signal = ""]) => signal);
}

/** Returns the lines of the log whose message begins with a text, or matches. */
function jsonLines(server: RunningServer, message: string | RegExp) {
  const lines = server.output().split("\n");
  const parsed = lines.flatMap((line) => (line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line)] : []));
  return parsed.filter(({ msg }) => (typeof message === "string" ? msg.startsWith(message) : message.test(msg)));
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("two processes that share one port", () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServe(site.dir, { ...ENV, WEB_METRICS_PORT: "0", WEB_METRICS_PATH: "/internal/metrics" });
  });
  afterAll(() => server?.stop());

  const countCalls = (text: string) =>
    Number(/^tsweb_requests_total\{kind="call",name="pid",status="200"\} (\d+)$/m.exec(text)?.[1]);

  it("have the sum of their metrics on a port of its own, whichever process receives the request", async () => {
    let calls = 0;
    const pids = new Set<number>();
    await expect
      .poll(async () => {
        pids.add(await call(server, "pid"));
        calls++;
        return pids.size;
      })
      .toBe(2);
    const findAddress = () => /Metrics at (http:\S+\/internal\/metrics)/.exec(server.output())?.[1];
    await expect.poll(findAddress).toBeDefined();
    const address = findAddress() ?? "";
    for (let times = 0; times < 10; times++) {
      const response = await fetch(address, { headers: { connection: "close" } });
      const text = await response.text();
      expect([response.status, countCalls(text)], text).toEqual([200, calls]);
    }
    expect((await fetch(new URL("/other", address))).status).toBe(404);
    expect((await fetch(`${server.address}/internal/metrics`)).status).toBe(404);
  });

  it("have a supervisor that does not load the application and restarts one of them that was killed", async () => {
    const [first = 0, second = 0] = await respondingPids(server, 2);
    expect(server.output().match(/The application is loaded\./g)).toHaveLength(2);
    process.kill(first, "SIGKILL");
    const [third = 0] = await respondingPids(server, 1, [first, second]); // the port is served in the meantime
    expect(server.output()).toMatch(/"msg":"A process has ended; restarting in \d+ ms"/);
    expect(await server.stop()).toBe(0);
    expect(stopSignals(server)).toEqual(["SIGTERM", "SIGTERM"]); // of the supervisor
    expect([first, second, third].filter(isAlive)).toEqual([]);
  });
});

describe("two processes", () => {
  it("complete calls in flight when both they and their supervisor get SIGTERM", async () => {
    const server = await startBuilt(site.dir, ENV);
    const pids = await respondingPids(server, 2);
    const calls = [call(server, "slow"), call(server, "slow")];
    await expect.poll(() => server.output().match(/A slow call has started/g)).toHaveLength(2);
    for (const pid of pids) process.kill(pid, "SIGTERM"); // as a service manager does, to the whole process group
    expect(await server.stop()).toBe(0);
    expect((await Promise.all(calls)).every((pid) => pids.includes(pid))).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("stop when one of them is still starting", async () => {
    const server = await startBuilt(site.dir, { ...ENV, LOADING_MS: "1500" }); // the second one starts after the first
    expect(await server.stop()).toBe(0);
  });

  it("exit when their supervisor is killed", async () => {
    const server = await startBuilt(site.dir, ENV);
    const pids = await respondingPids(server, 2);
    server.signal("SIGKILL");
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    expect(await server.exited).toBe("SIGKILL");
  });
});

describe("SIGHUP", () => {
  it("leaves both processes if the new one does not start, and then replaces them, one after another, while the port is served all the time", async () => {
    // A process that stops closes connections whose request has not arrived during the drain. On a busy machine, this process
    // may be interrupted for a second after it has connected.
    const server = await startBuilt(site.dir, { ...ENV, WEB_DRAIN_SECONDS: "4" });
    const before = await respondingPids(server, 2);
    site.write("broken", "");
    server.signal("SIGHUP");
    await expect.poll(() => server.output(), { timeout: 20_000 }).toContain("The new process did not start");
    expect(server.output()).toContain("This release is broken.");
    expect((await respondingPids(server, 2)).toSorted()).toEqual(before.toSorted());
    rmSync(site.file("broken"));

    const slow = call(server, "slow");
    await expect.poll(() => server.output()).toContain("A slow call has started");
    server.signal("SIGHUP");
    let isRestarting = true;
    const load = (async () => {
      const pids = new Set<number>();
      for (; isRestarting; await sleep(50)) pids.add(await call(server, "pid")); // 20 new connections a second, not all that fit
      return pids;
    })();
    await expect.poll(() => server.output(), { timeout: 60_000 }).toContain("All processes were restarted");
    isRestarting = false;
    await load; // no call has failed
    expect(before).toContain(await slow);
    const after = await respondingPids(server, 2);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    expect(before.filter(isAlive)).toEqual([]);
    expect(stopSignals(server)).toEqual(["SIGHUP", "SIGHUP"]);
    const { index: firstStop = 0 } = /Stopping a process, because/.exec(server.output()) ?? {};
    // Besides the broken release, three processes had loaded the application when the first one was stopped.
    expect(
      server
        .output()
        .slice(0, firstStop)
        .match(/The application is loaded/g),
    ).toHaveLength(4);
    expect(await server.stop()).toBe(0);
  });

  it("stops a process only after its successor has read the revocation log, and each line names its process", async () => {
    const redis = await RedisServer.start();
    const env = { WEB_ENV: "production", WEB_AUTH_SECRET: randomBytes(32).toString("hex"), WEB_BUS_URL: redis.url };
    const server = await startBuilt(site.dir, { ...ENV, ...env });
    try {
      const before = await respondingPids(server, 2);
      await redis.pause();
      server.signal("SIGHUP");
      // On a slow machine, the first processes have waited as well.
      const waiting = () => jsonLines(server, "Waiting for the first read").filter(({ pid }) => !before.includes(pid));
      await expect.poll(waiting).toHaveLength(1);
      expect(jsonLines(server, "Stopping a process")).toEqual([]);
      redis.resume();
      await expect.poll(() => server.output()).toContain("All processes were restarted");
      const ends = /^The revocation log (was read|can be read again|could not be read within 10 s)/;
      const [first] = jsonLines(server, "Stopping a process");
      const [end] = jsonLines(server, ends).filter(({ pid }) => !before.includes(pid));
      expect([first?.pid, first?.successor, before.includes(Number(first?.worker))]).toEqual([
        server.pid,
        end?.pid,
        true,
      ]);
      const output = server.output();
      expect(output.search(/"msg":"Stopping a process/)).toBeGreaterThan(output.indexOf(String(end?.msg)));
      await expect
        .poll(() =>
          jsonLines(server, "Stopped")
            .map(({ pid }) => pid)
            .toSorted(),
        )
        .toEqual(before.toSorted());
    } finally {
      redis.resume();
      expect(await server.stop()).toBe(0);
      await redis.stop();
    }
  });

  it("exits with 1 if a process had to cut off a call", async () => {
    const server = await startBuilt(site.dir, { ...ENV, WEB_STOP_SECONDS: "0" });
    await respondingPids(server, 2);
    const slow = call(server, "slow").catch(() => "cut off");
    await expect.poll(() => server.output()).toContain("A slow call has started");
    expect(await server.stop()).toBe(1);
    expect(await slow).toBe("cut off");
    expect(server.output()).toContain('"status":1,"msg":"All processes have stopped"');
  });
});

describe("two processes that cannot start", () => {
  it("print the reason once", async () => {
    const { code, output } = await runTsweb(site.dir, ["serve"], { ...ENV, WEB_COOKIE_SECURE: "perhaps" });
    expect(code).toBe(1);
    expect(output.match(/WEB_COOKIE_SECURE is "perhaps"/g)).toHaveLength(1);
  });

  it("report that a bus is required, and how many processes are allowed", async () => {
    const { WEB_BUS_URL: _url, ...without } = ENV;
    const alone = await runTsweb(site.dir, ["serve"], without);
    expect([alone.code, alone.output]).toEqual([1, expect.stringContaining("Set WEB_BUS_URL")]);
    for (const count of ["257", "two"]) {
      const { code, output } = await runTsweb(site.dir, ["serve"], { ...ENV, WEB_WORKERS: count });
      expect([code, output]).toEqual([1, expect.stringContaining(`WEB_WORKERS is "${count}"`)]);
    }
  });
});
