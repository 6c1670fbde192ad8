/**
 * Clients that open event streams with many feeds, for which megabytes of messages are stored, and never read. `npm run
 * torture` runs it at full size.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, acceleratedClockArgs, sharedEnv } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { buildLiveApp } from "#test/live-app";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";

const { TORTURE_SIZE, TORTURE_BUS } = process.env;

const MIB = 1024 * 1024;
const TEXT_LENGTH = 63 * 1024;
const CHANNELS = 16;
const MESSAGES_PER_CALL = 5;

const MAX_ADDED_BYTES = 64 * MIB;

/** Each sample collects the garbage. What clients do not read stays for longer. */
const SAMPLE_MS = 250;
/** The use has settled when so many samples differ by less than a mebibyte: the server then reads nothing more of the bus. */
const SETTLED_SAMPLES = 4;
const MAX_SAMPLES = 120;

/**
 * At full size, there are as many channels and messages as the bus in memory stores: 64 MiB, and 4 MiB per channel. For each client
 * there are more than the 4 MiB that the system buffers.
 */
const SIZES = {
  small: { clients: 10, messagesPerChannel: 30, maxSettledBytes: 8 * MIB },
  full: { clients: 120, messagesPerChannel: 60, maxSettledBytes: MAX_ADDED_BYTES },
} as const;

const size = TORTURE_SIZE === "full" ? SIZES.full : SIZES.small;

/** The buses, and the limit of the server's heap: that of the messages in memory is larger. */
const BUSES = [
  { kind: "memory", start: async () => null, heapMib: 160 },
  { kind: "redis", start: () => RedisServer.start(), heapMib: 96 },
  { kind: "nats", start: () => NatsServer.start(), heapMib: 96 },
].filter(({ kind }) => TORTURE_BUS === undefined || TORTURE_BUS === kind);

let project: TestProject;

beforeAll(async () => {
  project = await buildLiveApp();
});

afterAll(() => project?.remove());

/** Opens an event stream on a connection of its own, of which nothing is read. */
function openUnread(port: number, path: string): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.pause(); // before it is connected: otherwise Node reads into its own buffer
  socket.on("error", () => undefined); // then, readBeginning returns less
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  return socket;
}

/** Reads from a connection at last. @returns the beginning of the response, which is longer than a message, or all of it */
function readBeginning(socket: Socket): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    socket.once("close", () => resolve(text));
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (text.startsWith("HTTP/1.1 200 ") && text.length <= TEXT_LENGTH) return;
      socket.removeAllListeners("data").pause();
      resolve(text);
    });
    socket.resume();
  });
}

/**
 * Publishes messages to all channels.
 *
 * @returns paths of event streams: each starts at other positions, so that the server cannot share reads of the bus
 */
async function publishMessages({ address }: AppProcess): Promise<string[]> {
  const names = Array.from({ length: CHANNELS }, (_, n) => `channel ${n}`);
  const paths: string[] = [];
  for (let from = 0; from < size.messagesPerChannel; from += MESSAGES_PER_CALL) {
    if (from < size.messagesPerChannel / 2) {
      const feeds = await callFunction<string[]>(address, "issue_feeds", { names });
      paths.push(`/__web/live?${feeds.map((feed) => `feed=${feed}`).join("&")}`);
    }
    const publish = (room: string) =>
      callFunction(address, "publish_numbered", { room, from, count: MESSAGES_PER_CALL, length: TEXT_LENGTH });
    await Promise.all(names.map(publish));
  }
  return paths;
}

/** The memory that a server uses in addition, in bytes: at most, and after it has sent what it can. */
interface AddedBytes {
  readonly max: number;
  readonly settled: number;
}

/** Measures the memory of a server until it has settled. @throws Error if it does not */
async function sampleUse({ address }: AppProcess): Promise<number[]> {
  const samples: number[] = [];
  while (samples.length < MAX_SAMPLES) {
    samples.push(await callFunction<number>(address, "used_bytes"));
    const last = samples.slice(-SETTLED_SAMPLES);
    if (last.length === SETTLED_SAMPLES && Math.max(...last) - Math.min(...last) < MIB) return samples;
    await pause(SAMPLE_MS);
  }
  throw new Error(`The memory has not settled. The last samples, in bytes: ${samples.slice(-10).join(", ")}`);
}

/** Measures the memory of a server while it serves clients that read nothing. */
async function measure(server: AppProcess, paths: readonly string[]): Promise<AddedBytes> {
  const before = (await sampleUse(server)).at(-1) ?? 0;
  // Half of them start at the same positions.
  const pathOf = (n: number) => paths[n % 2 === 0 ? 0 : n % paths.length] ?? "";
  const sockets = Array.from({ length: size.clients }, (_, n) => openUnread(server.port, pathOf(n)));
  try {
    await pause(SAMPLE_MS);
    const samples = await sampleUse(server);
    const beginnings = await Promise.all(sockets.map(readBeginning));
    // Otherwise, little memory would be used because no messages were sent.
    for (const text of beginnings) {
      expect(text.slice(0, 100)).toMatch(/^HTTP\/1\.1 200 /);
      expect(text.length).toBeGreaterThan(TEXT_LENGTH);
    }
    return { max: Math.max(...samples) - before, settled: (samples.at(-1) ?? Infinity) - before };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

describe("clients that never read", () => {
  it.each(BUSES)(
    "add at most 64 MiB to a server with a small heap, on the bus $kind [LIVE-9]",
    { timeout: 120_000 },
    async ({ start, heapMib, kind }) => {
      const bus = await start();
      // A client that reads nothing is disconnected after 10 s: here after 100 s.
      const args = [...acceleratedClockArgs(0.1), "--expose-gc", `--max-old-space-size=${heapMib}`];
      const server = await AppProcess.start(project.dir, sharedEnv(...(bus ? [bus.url] : [])), args);
      try {
        const paths = await publishMessages(server);
        const { max, settled } = await measure(server, paths);
        if (TORTURE_SIZE)
          console.log(
            `${kind}: ${[max, settled].map((bytes) => (bytes / MIB).toFixed(1))} MiB added at most, and in the end`,
          );
        expect(max).toBeLessThan(MAX_ADDED_BYTES);
        expect(settled).toBeLessThan(size.maxSettledBytes);
      } finally {
        await server.stop();
        await bus?.stop();
      }
    },
  );
});
