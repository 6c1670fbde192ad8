/**
 * Clients that stop reading while hundreds of megabytes are published, on a real server.
 */
import { get, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppProcess, acceleratedClockArgs, sharedEnv } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { readEvents } from "#test/event-stream";
import { buildLiveApp } from "#test/live-app";
import { RedisServer } from "#test/redis-server";
import type { TestProject } from "#test/test-project";

const MIB = 1024 * 1024;
const TEXT_LENGTH = 60_000;
const MESSAGE_COUNT = 3_600;
const MESSAGES_PER_CALL = 60;
const STALLED_CLIENTS = 2;

let project: TestProject;
let redis: RedisServer;
let server: AppProcess;

beforeAll(async () => {
  [project, redis] = await Promise.all([buildLiveApp(), RedisServer.start()]);
  // A client that reads nothing for 10 s is disconnected: here after 2.5 s.
  server = await AppProcess.start(project.dir, sharedEnv(redis.url), acceleratedClockArgs(4));
});

afterAll(async () => {
  await server?.stop();
  await redis?.stop();
  project?.remove();
});

/** Opens an event stream. */
function open(feed: string, after?: string): Promise<IncomingMessage> {
  const query = new URLSearchParams(after === undefined ? { feed } : { feed, after });
  return new Promise((resolve, reject) => {
    get(`${server.address}/__web/live?${query}`, { agent: false }, resolve).on("error", reject);
  });
}

/** The data that a client has received: the numbers of the messages, and the cursor. */
interface Received {
  readonly numbers: number[];
  cursor: string;
}

/** Reads an event stream to the last message, or to the end. @returns whether it ended before the last message */
async function readStream(response: IncomingMessage, received: Received): Promise<boolean> {
  try {
    for await (const { event, id, data } of readEvents(Readable.toWeb(response) as ReadableStream<Uint8Array>)) {
      if (event === "ping") continue;
      expect(event).toBe("message");
      const text: string = JSON.parse(data[1] ?? "");
      const number = Number.parseInt(text, 10);
      if (text.length !== `${number}:`.length + TEXT_LENGTH) throw new Error(`Message ${number} is incomplete.`);
      received.numbers.push(number);
      received.cursor = id;
      if (number === MESSAGE_COUNT - 1) return false;
    }
  } catch (error) {
    if (!(error instanceof Error) || !/aborted|terminated|ECONNRESET/.test(error.message)) throw error;
  }
  return true;
}

describe("clients that stop reading", () => {
  it("do not delay other clients, are not buffered without limit, and receive every message after they resume", {
    timeout: 120_000,
  }, async () => {
    const [feed = ""] = await callFunction<string[]>(server.address, "issue_feeds", { names: ["numbers"] });
    const allNumbers = Array.from({ length: MESSAGE_COUNT }, (_, n) => n);
    const stalled = await Promise.all(Array.from({ length: STALLED_CLIENTS }, () => open(feed)));
    for (const response of stalled) response.pause();
    const reading = [1, 2].map(async () => {
      const received: Received = { numbers: [], cursor: "" };
      // A client on a slow machine may be disconnected, too. It reconnects as a page does.
      while (await readStream(await open(feed, received.cursor || undefined), received));
      return received.numbers;
    });

    let minBytes = Number.POSITIVE_INFINITY;
    let maxBytes = 0;
    for (let from = 0; from < MESSAGE_COUNT; from += MESSAGES_PER_CALL) {
      const args = { room: "numbers", from, count: MESSAGES_PER_CALL, length: TEXT_LENGTH };
      await callFunction(server.address, "publish_numbered", args);
      const bytes = await callFunction<number>(server.address, "memory_bytes", {});
      minBytes = Math.min(minBytes, bytes);
      maxBytes = Math.max(maxBytes, bytes);
    }
    for (const numbers of await Promise.all(reading)) expect(numbers).toEqual(allNumbers);
    // A buffer of all messages for one client would need more memory than the limit below.
    expect((MESSAGE_COUNT * TEXT_LENGTH) / MIB).toBeGreaterThan(200);
    expect((maxBytes - minBytes) / MIB).toBeLessThan(180);

    for (const response of stalled) {
      const received: Received = { numbers: [], cursor: "" };
      expect(await readStream(response, received), "whether it was disconnected").toBe(true);
      // It received only the data that was in network buffers.
      expect(received.numbers.length * TEXT_LENGTH).toBeLessThan(32 * MIB);
      while (await readStream(await open(feed, received.cursor || undefined), received));
      expect(received.numbers).toEqual(allNumbers);
    }
  });
});
