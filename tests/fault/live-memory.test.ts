/**
 * Clients that open event streams with many feeds, for which megabytes of messages are stored, and never read. `npm run
 * torture` runs it at full size.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, sharedEnv } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { buildLiveApp } from "#test/live-app";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";

const { TORTURE_SIZE, TORTURE_BUS } = process.env;

const MIB = 1024 * 1024;
const TEXT_LENGTH = 63 * 1024;
/** As many channels and messages as the bus in memory stores: 64 MiB, and 4 MiB per channel. */
const CHANNELS = 16;
const MESSAGES_PER_CHANNEL = 60;
const MESSAGES_PER_CALL = 2;
const MAX_ADDED_BYTES = 64 * MIB;

/** Each sample collects the garbage. What clients do not read stays for longer. */
const SAMPLE_MS = 250;

/** A client that reads nothing is disconnected after 10 s: the memory is measured before. */
const SIZES = {
  small: { clients: 40, measuredMs: 2_500 },
  full: { clients: 120, measuredMs: 8_000 },
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
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  return socket;
}

/**
 * Publishes messages to all channels.
 *
 * @returns paths of event streams: each starts at other positions, so that the server cannot share reads of the bus
 */
async function publishMessages({ address }: AppProcess): Promise<string[]> {
  const names = Array.from({ length: CHANNELS }, (_, n) => `channel ${n}`);
  const paths: string[] = [];
  for (let from = 0; from < MESSAGES_PER_CHANNEL; from += MESSAGES_PER_CALL) {
    if (from < MESSAGES_PER_CHANNEL / 2) {
      const feeds = await callFunction<string[]>(address, "issue_feeds", { names });
      paths.push(`/__web/live?${feeds.map((feed) => `feed=${feed}`).join("&")}`);
    }
    const publish = (room: string) =>
      callFunction(address, "publish_numbered", { room, from, count: MESSAGES_PER_CALL, length: TEXT_LENGTH });
    await Promise.all(names.map(publish));
  }
  return paths;
}

/** Returns the greatest memory use of a server while it serves clients that read nothing, in bytes. */
async function measure(server: AppProcess, paths: readonly string[]): Promise<number> {
  // Half of them start at the same positions.
  const pathOf = (n: number) => paths[n % 2 === 0 ? 0 : n % paths.length] ?? "";
  const sockets = Array.from({ length: size.clients }, (_, n) => openUnread(server.port, pathOf(n)));
  try {
    let max = 0;
    for (const until = performance.now() + size.measuredMs; performance.now() < until; await pause(SAMPLE_MS)) {
      max = Math.max(max, await callFunction<number>(server.address, "used_bytes"));
    }
    return max;
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
      const args = ["--expose-gc", `--max-old-space-size=${heapMib}`];
      const server = await AppProcess.start(project.dir, sharedEnv(...(bus ? [bus.url] : [])), args);
      try {
        const paths = await publishMessages(server);
        const before = await callFunction<number>(server.address, "used_bytes");
        const max = await measure(server, paths);
        if (TORTURE_SIZE) console.log(`${kind}: ${((max - before) / MIB).toFixed(1)} MiB added`);
        expect(max - before).toBeLessThan(MAX_ADDED_BYTES);
      } finally {
        await server.stop();
        await bus?.stop();
      }
    },
  );
});
