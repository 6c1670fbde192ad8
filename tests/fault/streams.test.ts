/**
 * Streams of a built server, in a process of its own: clients that disconnect in every way a connection can end, and
 * clients that read slowly or not at all.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { callFunction } from "#test/call-function";
import { buildFaultApp, type FaultApp } from "#test/fault-app";
import { callBytes, readToEnd, readUntil } from "#test/raw-http";
import type { RunningServer } from "#test/run-tsweb";

/** The record of a stream in the application. */
interface StreamState {
  readonly steps: number;
  readonly endEvents: readonly string[];
}

let app: FaultApp;
let server: RunningServer;

beforeAll(async () => {
  app = await buildFaultApp();
  server = await app.start();
});

afterAll(async () => {
  const code = await server?.stop();
  app?.remove();
  expect(code).toBe(0);
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends a call over a new connection. */
async function send(name: string, args: object, to: RunningServer = server, ...headers: string[]): Promise<Socket> {
  const { port } = new URL(to.address);
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined); // the tests break connections
  sockets.push(socket);
  await new Promise<void>((resolve) => socket.write(callBytes(name, args, ...headers), () => resolve()));
  return socket;
}

const call = <T>(name: string, args: object = {}, to: RunningServer = server) =>
  callFunction<T>(to.address, name, args);
const stateOf = (key: string) => call<StreamState | null>("stream_state", { key });

let streamCount = 0;
const nextKey = () => `stream ${++streamCount}`;

/** Opens a stream, and waits until it pauses at a point. */
async function openAndPause(point: string): Promise<{ socket: Socket; key: string }> {
  const key = nextKey();
  const socket = await send("pausing_stream", { key, point });
  const hasOutput = point !== "before the first yield";
  if (hasOutput) {
    await readUntil(socket, /"chunk":1\}/);
    socket.pause();
  }
  await vi.waitFor(async () => expect((await stateOf(key))?.steps).toBeGreaterThanOrEqual(hasOutput ? 2 : 1), 30_000);
  return { socket, key };
}

const POINTS = [
  "before the first yield",
  "at a yield",
  "between many yields",
  "between two yields",
  "between two yields, ignoring the signal",
];

/** How a client disconnects, as the end of "a client that …". */
const DISCONNECTS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  "closes the connection": (socket) => socket.destroy(),
  "resets the connection": (socket) => socket.resetAndDestroy(),
  "closes its half of the connection": (socket) => socket.end(),
};

/**
 * After how many calls at most the end of a stream has to be seen. The server can read the end of a connection before each of them, so
 * their number, and not the time, shows that it does not wait: this holds on a machine under load, too.
 */
const MAX_CALLS = 20;

/** Reads the state of a stream until it has these events at its end. */
async function expectEnd(key: string, events: readonly string[]): Promise<StreamState | null> {
  let state = await stateOf(key);
  for (let calls = 1; calls < MAX_CALLS && state?.endEvents.length !== events.length; calls++)
    state = await stateOf(key);
  expect(state?.endEvents.toSorted()).toEqual(events);
  return state;
}

describe.each(Object.entries(DISCONNECTS))("a client that %s", (_, disconnect) => {
  it.each(POINTS)("ends at once a generator that pauses %s", async (point) => {
    const { socket, key } = await openAndPause(point);
    disconnect(socket);
    if (point.endsWith("ignoring the signal")) {
      await expectEnd(key, ["aborted"]);
      await call("continue_stream", { key });
    }
    const state = await expectEnd(key, ["aborted", "disposed", "finally"]);
    // The generator does not continue after the yield at which, or before which, it paused.
    if (point.startsWith("between")) expect(state?.steps).toBe(2);
    if (point.startsWith("before")) expect(state?.steps).toBe(1);
  });
});

describe("a stream whose client stays connected", () => {
  it.each([
    ["its last value", "at no point", ["completed", "finally", "disposed"], /"done":true/],
    ["an error", "at no point, and throws", ["finally", "disposed"], /"error":\{"code":"conflict"/],
  ])(
    "ends with %s, without aborting its signal, and the connection stays usable",
    async (_, point, events, lastLine) => {
      const key = nextKey();
      const socket = await send("pausing_stream", { key, point });
      expect(await readUntil(socket, lastLine)).toMatch(/"chunk":1\}.*"chunk":2\}/s);
      expect((await stateOf(key))?.endEvents).toEqual(events);
      const response = readUntil(socket, /"result":"pong"/);
      socket.write(callBytes("ping"));
      await response;
      expect((await stateOf(key))?.endEvents).toHaveLength(events.length);
    },
  );
});

describe("a client that reads slowly", () => {
  /** The length of a line: its JSON, its line feed, and the framing of its HTTP chunk. */
  const LENGTH = 64 * 1024;
  const LINE_BYTES = LENGTH + '{"chunk":""}\n'.length + "1000d\r\n\r\n".length;

  it("pauses the generator one step ahead of the socket, and receives every line", async () => {
    const key = nextKey();
    const socket = await send("numbered_lines", { key, length: LENGTH });
    const port = socket.localPort;
    const countSteps = async () => (await stateOf(key))?.steps ?? 0;
    const paused = await vi.waitFor(async () => {
      const state = await call<{ writtenBytes: number; bufferedBytes: number }>("socket_state", { port });
      expect(state.bufferedBytes).toBeGreaterThan(0);
      const steps = await countSteps();
      for (let check = 0; check < 10; check++) expect(await countSteps()).toBe(steps);
      return { steps, ...state };
    }, 30_000);
    // Every line of the generator, except one, was written to the socket.
    expect(paused.steps).toBeLessThanOrEqual(Math.floor(paused.writtenBytes / LINE_BYTES) + 1);
    expect(paused.bufferedBytes).toBeLessThanOrEqual(2 * LINE_BYTES);

    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
    });
    await vi.waitFor(() => expect(text).toContain(`"${paused.steps + 20}:`), 30_000);
    socket.pause();
    const numbers = [...text.matchAll(/"chunk":"(\d+):/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });
});

describe("a generator that never awaits", () => {
  it("does not block other calls while its client reads at full speed, and ends when the client disconnects", async () => {
    const key = nextKey();
    const socket = await send("numbered_lines", { key, length: 64 });
    socket.resume();
    const countSteps = async () => (await stateOf(key))?.steps ?? 0;
    const before = await vi.waitFor(async () => {
      const steps = await countSteps();
      expect(steps).toBeGreaterThan(0);
      return steps;
    }, 30_000);
    for (let times = 0; times < 20; times++) expect(await call("ping")).toBe("pong");
    expect(await countSteps()).toBeGreaterThan(before);
    socket.end();
    await vi.waitFor(async () => {
      const steps = await countSteps();
      expect(await countSteps()).toBe(steps);
    }, 30_000);
  });
});

/** Returns the active TCP timer of a connection: 02 is keep-alive. @see proc(5), /proc/net/tcp */
function tcpTimer(localPort: number, remotePort: number): string | undefined {
  const hex = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const [, local, remote, , , timer] = line.trim().split(/\s+/);
    if (local?.endsWith(hex(localPort)) && remote?.endsWith(hex(remotePort))) return timer?.split(":")[0];
  }
  return undefined;
}

it("the server uses TCP keep-alive for a silent stream, to detect a client that vanished", async () => {
  const { socket } = await openAndPause("between two yields");
  const port = Number(new URL(server.address).port);
  await vi.waitFor(() => expect(tcpTimer(port, socket.localPort ?? 0)).toBe("02"), 30_000);
});

describe("the limit of open streams", () => {
  let limited: RunningServer;
  beforeAll(async () => {
    limited = await app.start({ WEB_MAX_STREAMS_PER_CLIENT: "3", WEB_TRUST_PROXY: "1" });
  });
  afterAll(() => limited?.stop());

  const open = async (clientAddress: string) => {
    const args = { key: nextKey(), point: "between two yields" };
    const socket = await send("pausing_stream", args, limited, `X-Forwarded-For: ${clientAddress}`);
    const [, status = ""] = /^HTTP\/1\.1 (\d+)/.exec(await readUntil(socket, /\r\n\r\n.*\}/s)) ?? [];
    return { socket, status: Number(status) };
  };

  it("is WEB_MAX_STREAMS_PER_CLIENT for each client address, and a closed stream does not count", async () => {
    const opened = [await open("10.0.0.1"), await open("10.0.0.1"), await open("10.0.0.1")];
    expect(opened.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await open("10.0.0.1")).status).toBe(429);
    expect((await open("10.0.0.2")).status).toBe(200);
    opened[0]?.socket.destroy();
    await vi.waitFor(async () => expect((await open("10.0.0.1")).status).toBe(200), 30_000);
    expect((await open("10.0.0.1")).status).toBe(429);
  });
});

/** `npm run torture` runs it at full size. */
const ABANDONED =
  process.env.TORTURE_SIZE === "full" ? { first: 5_000, measured: 10_000 } : { first: 500, measured: 1_500 };

describe("thousands of streams that were opened and abandoned", () => {
  interface UsedResources {
    readonly heapBytes: number;
    readonly handles: number;
    readonly resources: number;
    readonly files: number;
  }

  let unlimited: RunningServer;
  beforeAll(async () => {
    unlimited = await app.start({ WEB_MAX_STREAMS_PER_CLIENT: "1000" });
  });
  afterAll(async () => expect(await unlimited?.stop()).toBe(0));

  /** Opens and abandons streams, at every point and in every way. */
  async function abandon(count: number, concurrency: number): Promise<void> {
    // "ignoring the signal" takes long, "at a yield" much memory: the latter is used for 1 in 100.
    const points = POINTS.filter((point) => !/ignoring|at a/.test(point));
    const disconnects = Object.values(DISCONNECTS);
    let opened = 0;
    const abandonOne = async () => {
      const n = opened++;
      const point = n % 100 === 0 ? "at a yield" : (points[n % points.length] ?? "");
      const socket = await send("pausing_stream", { key: `one of ${n % 50}`, point }, unlimited);
      if (point !== "before the first yield") await readUntil(socket, /"chunk":1\}/);
      const closed = readToEnd(socket);
      disconnects[Math.floor(n / points.length) % disconnects.length]?.(socket);
      await closed;
    };
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (opened < count) await abandonOne();
      }),
    );
    sockets.length = 0;
  }

  it("leave no memory, handles or files in use", { timeout: 240_000 }, async () => {
    await abandon(ABANDONED.first, 50); // after this, memory that the process allocates only once is allocated
    const readResources = () =>
      vi.waitFor(async () => {
        const used = await call<UsedResources>("used_resources", {}, unlimited);
        expect(used.handles).toBeLessThan(20);
        return used;
      }, 30_000);
    const before = await readResources();
    await abandon(ABANDONED.measured, 50);
    await vi.waitFor(async () => {
      const used = await readResources();
      expect(used.files).toBeLessThanOrEqual(before.files + 2);
      expect(used.handles).toBeLessThanOrEqual(before.handles + 2);
      expect(used.resources).toBeLessThanOrEqual(before.resources + 2);
      // 100 bytes for each stream would be 1,000,000 at full size. A stream that is kept has some thousands, and is never freed.
      expect(used.heapBytes - before.heapBytes).toBeLessThan(1_000_000);
    }, 30_000);
  });
});

it("the server logs no error for clients that disconnect or read slowly", () => {
  expect(server.output()).not.toMatch(/"level":"error"|Error:|failed/);
});
