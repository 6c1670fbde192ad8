/**
 * Streams of a built server, in a process of its own, whose callers go away in every way that a
 * connection can end, or do not read.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ask as askOf, buildFaults, type Faults } from "#test/faults";
import { callBytes, readToEnd, readUntil } from "#test/raw";
import type { Running } from "#test/run-tsweb";

/** What the fixture tells of a stream. */
interface Fate {
  readonly steps: number;
  readonly ends: readonly { readonly what: string; readonly at: number }[];
}

let faults: Faults;
let server: Running;

beforeAll(async () => {
  faults = await buildFaults();
  server = await faults.start();
});

afterAll(async () => {
  const code = await server?.stop();
  faults?.remove();
  expect(code).toBe(0);
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends a call on a connection of its own. */
async function send(name: string, args: object, to: Running = server, ...headers: string[]): Promise<Socket> {
  const { port } = new URL(to.address);
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined); // it is broken on purpose
  sockets.push(socket);
  await new Promise<void>((sent) => socket.write(callBytes(name, args, ...headers), () => sent()));
  return socket;
}

const ask = <T>(name: string, args: object = {}, to: Running = server) => askOf<T>(to, name, args);
const fateOf = (key: string) => ask<Fate | null>("fate_of", { key });

let streams = 0;

/** Opens a stream, and waits until it stands where it is to be left. */
async function stand(where: string): Promise<{ socket: Socket; key: string }> {
  const key = `stream ${++streams}`;
  const socket = await send("standing", { key, where });
  const isSilent = where === "before the first yield";
  if (!isSilent) {
    await readUntil(socket, /"chunk":1\}/);
    socket.pause();
  }
  await vi.waitFor(async () => expect((await fateOf(key))?.steps).toBeGreaterThanOrEqual(isSilent ? 1 : 2), 5_000);
  return { socket, key };
}

const PLACES = [
  "before the first yield",
  "at a yield",
  "step by step",
  "between two yields",
  "between two yields, deaf",
];

/** The ways a client goes. Each ends what it sends; what it then does with what it is sent differs. */
const WAYS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  "closes the connection": (socket) => socket.destroy(),
  "resets the connection": (socket) => socket.resetAndDestroy(),
  "closes its half of the connection": (socket) => socket.end(),
};

describe.each(Object.entries(WAYS))("a client that %s", (_, leave) => {
  it.each(PLACES)("%s ends the generator there within a second", async (where) => {
    const { socket, key } = await stand(where);
    const left = Date.now();
    leave(socket);
    const ends = await vi.waitFor(async () => {
      const { ends = [] } = (await fateOf(key)) ?? {};
      expect(ends.map(({ what }) => what).sort()).toEqual(["aborted", "disposed", "finally"]);
      return ends;
    }, 5_000);
    for (const { what, at } of ends) expect(at - left, what).toBeLessThanOrEqual(1_000);
    // Nothing after the yield that it stood at, or came to.
    if (where.startsWith("between")) expect((await fateOf(key))?.steps).toBe(2);
    if (where.startsWith("before")) expect((await fateOf(key))?.steps).toBe(1);
  });
});

describe("a stream that nobody leaves", () => {
  it.each([
    ["its last value", "nowhere", ["came to its end", "finally", "disposed"], /"done":true/],
    ["an error", "after its end by an error", ["finally", "disposed"], /"error":\{"code":"conflict"/],
  ])("ends with %s, its signal not aborted, and its connection serves on", async (_, where, wanted, last) => {
    const key = `stream ${++streams}`;
    const socket = await send("standing", { key, where });
    expect(await readUntil(socket, last)).toMatch(/"chunk":1\}.*"chunk":2\}/s);
    expect((await fateOf(key))?.ends.map(({ what }) => what)).toEqual(wanted);
    const again = readUntil(socket, /"result":"pong"/);
    socket.write(callBytes("ping"));
    await again;
    expect((await fateOf(key))?.ends).toHaveLength(wanted.length);
  });
});

describe("a client that reads slowly", () => {
  /** A line as it comes: its JSON, its end, and the chunk of HTTP that it is. */
  const LENGTH = 64 * 1024;
  const LINE = LENGTH + '{"chunk":""}\n'.length + "1000d\r\n\r\n".length;

  it("holds the generator one step ahead of the socket, and gets all of it", async () => {
    const key = `stream ${++streams}`;
    const socket = await send("numbered", { key, length: LENGTH });
    const port = socket.localPort;
    const steps = async () => (await fateOf(key))?.steps ?? 0;
    const held = await vi.waitFor(async () => {
      const sent = await ask<{ bytes: number; waiting: number }>("sent_to", { port });
      expect(sent.waiting).toBeGreaterThan(0);
      const now = await steps();
      for (let look = 0; look < 10; look++) expect(await steps()).toBe(now);
      return { now, ...sent };
    }, 10_000);
    // What was taken out of the generator has been given to the socket, but for one line.
    expect(held.now).toBeLessThanOrEqual(Math.floor(held.bytes / LINE) + 1);
    expect(held.waiting).toBeLessThanOrEqual(2 * LINE);

    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
    });
    await vi.waitFor(() => expect(text).toContain(`"${held.now + 20}:`), 10_000);
    socket.pause();
    const numbers = [...text.matchAll(/"chunk":"(\d+):/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, at) => at));
  });
});

describe("a generator that waits for nothing", () => {
  it("leaves others their turn, though its client reads as fast as it can", async () => {
    const key = `stream ${++streams}`;
    const socket = await send("numbered", { key, length: 64 });
    socket.resume();
    const steps = async () => (await fateOf(key))?.steps ?? 0;
    const before = await vi.waitFor(async () => {
      const now = await steps();
      expect(now).toBeGreaterThan(0);
      return now;
    }, 5_000);
    for (let times = 0; times < 20; times++) expect(await ask("ping")).toBe("pong");
    expect(await steps()).toBeGreaterThan(before);
    socket.end(); // nor does it miss that its client has left
    await vi.waitFor(async () => {
      const now = await steps();
      expect(await steps()).toBe(now);
    }, 5_000);
  });
});

/** Reads which timer the system keeps for a connection: 02 is the one of keep-alive. @see proc(5), /proc/net/tcp */
function timerOf(local: number, remote: number): string | undefined {
  const hex = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const [, from, to, , , timer] = line.trim().split(/\s+/);
    if (from?.endsWith(hex(local)) && to?.endsWith(hex(remote))) return timer?.split(":")[0];
  }
  return undefined;
}

it("probes the connection of a stream that is silent: a machine that vanished says nothing", async () => {
  const { socket } = await stand("between two yields");
  const port = Number(new URL(server.address).port);
  await vi.waitFor(() => expect(timerOf(port, socket.localPort ?? 0)).toBe("02"), 5_000);
});

describe("the streams that a client may have open", () => {
  let small: Running;
  beforeAll(async () => {
    small = await faults.start({ WEB_MAX_STREAMS_PER_CLIENT: "3", WEB_TRUST_PROXY: "1" });
  });
  afterAll(() => small?.stop());

  const open = async (address: string) => {
    const args = { key: `stream ${++streams}`, where: "between two yields" };
    const socket = await send("standing", args, small, `X-Forwarded-For: ${address}`);
    const [, status = ""] = /^HTTP\/1\.1 (\d+)/.exec(await readUntil(socket, /\r\n\r\n.*\}/s)) ?? [];
    return { socket, status: Number(status) };
  };

  it("are as many as WEB_MAX_STREAMS_PER_CLIENT says, for each address, until one is left", async () => {
    const opened = [await open("10.0.0.1"), await open("10.0.0.1"), await open("10.0.0.1")];
    expect(opened.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await open("10.0.0.1")).status).toBe(429);
    expect((await open("10.0.0.2")).status).toBe(200);
    opened[0]?.socket.destroy();
    await vi.waitFor(async () => expect((await open("10.0.0.1")).status).toBe(200), 5_000);
    expect((await open("10.0.0.1")).status).toBe(429);
  });
});

describe("ten thousand streams that were opened and left", () => {
  interface Held {
    readonly heapBytes: number;
    readonly handles: number;
    readonly resources: number;
    readonly files: number;
  }

  let many: Running;
  beforeAll(async () => {
    many = await faults.start({ WEB_MAX_STREAMS_PER_CLIENT: "1000" });
  });
  afterAll(async () => expect(await many?.stop()).toBe(0));

  /** Opens and leaves streams, so many at once, in every place and way by turns. */
  async function abandon(count: number, atOnce: number): Promise<void> {
    const places = PLACES.filter((place) => !/deaf|at a/.test(place)); // one takes long, the other much
    const ways = Object.values(WAYS);
    let opened = 0;
    const one = async () => {
      const at = opened++;
      const where = at % 100 === 0 ? "at a yield" : (places[at % places.length] ?? "");
      const socket = await send("standing", { key: `one of ${at % 50}`, where }, many);
      if (where !== "before the first yield") await readUntil(socket, /"chunk":1\}/);
      const closed = readToEnd(socket);
      ways[Math.floor(at / places.length) % ways.length]?.(socket);
      await closed;
    };
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (opened < count) await one();
      }),
    );
    sockets.length = 0;
  }

  it("leave nothing behind: neither memory nor handles", { timeout: 240_000 }, async () => {
    await abandon(5_000, 50); // what the process makes once, it has made by then
    const settled = () =>
      vi.waitFor(async () => {
        const held = await ask<Held>("held", {}, many);
        expect(held.handles).toBeLessThan(20);
        return held;
      }, 10_000);
    const before = await settled();
    await abandon(10_000, 50);
    const after = await vi.waitFor(async () => {
      const held = await settled();
      expect(held.files).toBeLessThanOrEqual(before.files + 2);
      expect(held.handles).toBeLessThanOrEqual(before.handles + 2);
      expect(held.resources).toBeLessThanOrEqual(before.resources + 2);
      return held;
    }, 10_000);
    // A hundred bytes of each would be a million.
    expect(after.heapBytes - before.heapBytes).toBeLessThan(1_000_000);
  });
});

it("nothing of this was a failure of the server's", () => {
  expect(server.output()).not.toMatch(/"level":"error"|Error:|failed/);
});
