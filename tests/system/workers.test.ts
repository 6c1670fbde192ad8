/**
 * Several processes behind one port: `WEB_WORKERS`.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { build, type Running, runTsweb, startBuilt } from "#test/run-tsweb";
import { Site } from "#test/site";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as calls from "./calls.server.ts";
    console.log("The application is loaded.");
    export default new App({ modules: [calls] });`,
  "src/calls.server.ts": `
    import { server } from "tsweb";
    export const who = server(() => process.pid);
    export const slow = server(async () => {
      console.log("A slow call has begun.");
      await new Promise((resolve) => setTimeout(resolve, 700));
      return process.pid;
    });`,
};

// Nobody is there: the processes serve all the same, and say so.
const ENV = { WEB_ENV: "development", WEB_WORKERS: "2", WEB_BUS_URL: "redis://127.0.0.1:1" };

let site: Site;
beforeAll(async () => {
  site = Site.of(FILES);
  await build(site.dir);
});
afterAll(() => site?.remove());

async function call(server: Running, name: string): Promise<number> {
  const headers = { "content-type": "application/json", connection: "close" };
  const response = await fetch(`${server.address}/__web/rpc/${name}`, { method: "POST", headers, body: '{"args":{}}' });
  return (await response.json()).result;
}

/** Asks until so many processes have answered, and gives them. */
async function processes(server: Running, count: number, besides: readonly number[] = []): Promise<number[]> {
  const found = new Set<number>();
  await expect
    .poll(
      async () => {
        const pid = await call(server, "who");
        if (!besides.includes(pid)) found.add(pid);
        return found.size;
      },
      { timeout: 20_000 },
    )
    .toBe(count);
  return [...found];
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("two processes", () => {
  it("answer behind one port, and the one above them does not load the application", async () => {
    const server = await startBuilt(site.dir, ENV);
    const pids = await processes(server, 2);
    expect(server.output().match(/The application is loaded\./g)).toHaveLength(2);
    expect(await server.stop()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("are two again when one was killed, and the port answers meanwhile", async () => {
    const server = await startBuilt(site.dir, ENV);
    const [first = 0, second = 0] = await processes(server, 2);
    process.kill(first, "SIGKILL");
    const [third] = await processes(server, 1, [first, second]);
    expect(third).toBeGreaterThan(0);
    expect(server.output()).toMatch(/"msg":"A process has ended; restarting in \d+ ms"/);
    expect(await server.stop()).toBe(0);
  });

  it("finish the calls they have when they are told to stop, told by the one above or by everybody", async () => {
    const server = await startBuilt(site.dir, ENV);
    const pids = await processes(server, 2);
    const calls = [call(server, "slow"), call(server, "slow")];
    await expect.poll(() => server.output().match(/A slow call has begun/g)).toHaveLength(2);
    for (const pid of pids) process.kill(pid, "SIGTERM"); // as a service manager does, to all
    expect(await server.stop()).toBe(0);
    expect((await Promise.all(calls)).every((pid) => pids.includes(pid))).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("end when the one above them is killed", async () => {
    const server = await startBuilt(site.dir, ENV);
    const pids = await processes(server, 2);
    server.signal("SIGKILL");
    await expect.poll(() => pids.filter(isAlive), { timeout: 10_000 }).toEqual([]);
    expect(await server.ended).toBe("SIGKILL");
  });
});

describe("processes that cannot start", () => {
  it("are one, which says why, once", async () => {
    const { code, output } = await runTsweb(site.dir, ["serve"], { ...ENV, WEB_COOKIE_SECURE: "perhaps" });
    expect(code).toBe(1);
    expect(output.match(/WEB_COOKIE_SECURE is "perhaps"/g)).toHaveLength(1);
  });

  it("are told that they need a bus, and how many there may be", async () => {
    const { WEB_BUS_URL: _url, ...without } = ENV;
    const alone = await runTsweb(site.dir, ["serve"], without);
    expect([alone.code, alone.output]).toEqual([1, expect.stringContaining("Set WEB_BUS_URL")]);
    for (const count of ["257", "two", "-1", "1.5"]) {
      const { code, output } = await runTsweb(site.dir, ["serve"], { ...ENV, WEB_WORKERS: count });
      expect([code, output]).toEqual([1, expect.stringContaining(`WEB_WORKERS is "${count}"`)]);
    }
  });
});
