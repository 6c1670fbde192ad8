/**
 * A client that stops reading while many times as much is published as a connection buffers, on a real server.
 */
import { readFileSync } from "node:fs";
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
const MESSAGE_COUNT = 600;
const MESSAGES_PER_CALL = 30;
/** More than the server buffers for its channel and for each client, and less than half of all messages. */
const MAX_ADDED_BYTES = 16 * MIB;

let project: TestProject;
let redis: RedisServer;
let server: AppProcess;

beforeAll(async () => {
  [project, redis] = await Promise.all([buildLiveApp(), RedisServer.start()]);
  // A client that reads nothing for 10 s is disconnected: here after 2.5 s.
  server = await AppProcess.start(project.dir, sharedEnv(redis.url), [...acceleratedClockArgs(4), "--expose-gc"]);
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

/** Returns whether the server has an open connection with a client. @see proc(5), /proc/net/tcp */
function isConnected({ socket }: IncomingMessage): boolean {
  const hex = (port = 0) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .some(
      ([, local, remote, state]) =>
        local?.endsWith(hex(server.port)) && remote?.endsWith(hex(socket.localPort)) && state === "01",
    );
}

describe("a client that stops reading", () => {
  it("does not delay another client, is not buffered without limit, and receives every message after it resumes", async () => {
    const [feed = ""] = await callFunction<string[]>(server.address, "issue_feeds", { names: ["numbers"] });
    const allNumbers = Array.from({ length: MESSAGE_COUNT }, (_, n) => n);
    const stalled = await open(feed);
    stalled.pause();
    expect(isConnected(stalled)).toBe(true); // otherwise, the wait for the end of the connection would wait for nothing
    /** Reads all messages. A client on a slow machine may be disconnected, too: it reconnects as a page does. */
    const readAll = async (received: Received) => {
      while (await readStream(await open(feed, received.cursor || undefined), received));
      return received.numbers;
    };
    const reading = readAll({ numbers: [], cursor: "" });

    const usedBytes = () => callFunction<number>(server.address, "used_bytes");
    const usedBefore = await usedBytes();
    let usedAtMost = 0;
    for (let from = 0; from < MESSAGE_COUNT; from += MESSAGES_PER_CALL) {
      const args = { room: "numbers", from, count: MESSAGES_PER_CALL, length: TEXT_LENGTH };
      await callFunction(server.address, "publish_numbered", args);
      usedAtMost = Math.max(usedAtMost, await usedBytes());
    }
    expect(await reading).toEqual(allNumbers);
    // A buffer of all messages for the client would need more memory.
    expect(MESSAGE_COUNT * TEXT_LENGTH).toBeGreaterThan(2 * MAX_ADDED_BYTES);
    expect(usedAtMost - usedBefore).toBeLessThan(MAX_ADDED_BYTES);

    await expect.poll(() => isConnected(stalled)).toBe(false);
    const received: Received = { numbers: [], cursor: "" };
    expect(await readStream(stalled, received), "whether it was disconnected").toBe(true);
    // It received only the data that was in network buffers.
    expect(received.numbers.length * TEXT_LENGTH).toBeLessThan(MAX_ADDED_BYTES);
    expect(await readAll(received)).toEqual(allNumbers);
  });
});
