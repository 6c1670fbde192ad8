/**
 * Readers that stop reading while hundreds of megabytes are published, on a real server: it holds nothing for them,
 * nobody else notices, and when they read again they get all of it.
 */
import { get, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readEvents } from "#test/event-stream";
import { RedisServer } from "#test/redis-server";
import type { Site } from "#test/site";
import { callFunction } from "#test/torture-call";
import { buildTortureSite, fastClock, Process, sharedEnvironment } from "#test/torture-site";

const MIB = 1024 * 1024;
const SIZE = 60_000;
const COUNT = 3_600;
const PER_CALL = 60;
const STALLED = 5;

let site: Site;
let redis: RedisServer;
let server: Process;

beforeAll(async () => {
  [site, redis] = await Promise.all([buildTortureSite(), RedisServer.start()]);
  // A reader that takes nothing for 10 seconds is cut: here after two and a half.
  server = await Process.start(site.dir, sharedEnvironment(redis.url), fastClock(4));
});

afterAll(async () => {
  await server?.stop();
  await redis?.stop();
  site?.remove();
});

function open(feed: string, after?: string): Promise<IncomingMessage> {
  const query = new URLSearchParams(after === undefined ? { feed } : { feed, after });
  return new Promise((resolve, reject) => {
    get(`${server.address}/__web/live?${query}`, { agent: false }, resolve).on("error", reject);
  });
}

/** What was read of a stream: the numbers of its messages, and where it stands. */
interface Read {
  readonly numbers: number[];
  cursor: string;
}

/** Reads a stream into `read`, until the last message or the end. @returns whether it ended before */
async function readOn(response: IncomingMessage, read: Read): Promise<boolean> {
  try {
    for await (const { event, id, data } of readEvents(Readable.toWeb(response) as ReadableStream<Uint8Array>)) {
      if (event === "ping") continue;
      expect(event).toBe("message");
      const text: string = JSON.parse(data[1] ?? "");
      const number = Number.parseInt(text, 10);
      if (text.length !== `${number}:`.length + SIZE) throw new Error(`Message ${number} is not whole.`);
      read.numbers.push(number);
      read.cursor = id;
      if (number === COUNT - 1) return false;
    }
  } catch (error) {
    if (!(error instanceof Error) || !/aborted|terminated|ECONNRESET/.test(error.message)) throw error;
  }
  return true;
}

it("hold up nobody, cost no memory, and get all of it in the end", { timeout: 120_000 }, async () => {
  const [feed = ""] = await callFunction<string[]>(server.address, "feeds", { names: ["flood"] });
  const all = Array.from({ length: COUNT }, (_, n) => n);
  const stalled = await Promise.all(Array.from({ length: STALLED }, () => open(feed)));
  for (const each of stalled) each.pause();
  const awake = [1, 2].map(async () => {
    const read: Read = { numbers: [], cursor: "" };
    // One that is slow because the machine is may be cut, too; it comes back as a page would.
    while (await readOn(await open(feed, read.cursor || undefined), read));
    return read.numbers;
  });

  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let from = 0; from < COUNT; from += PER_CALL) {
    await callFunction(server.address, "flood", { room: "flood", from, count: PER_CALL, size: SIZE });
    const bytes = await callFunction<number>(server.address, "memory", {});
    least = Math.min(least, bytes);
    most = Math.max(most, bytes);
  }
  for (const numbers of await Promise.all(awake)) expect(numbers).toEqual(all);
  // To hold it for one reader alone would take more than that.
  expect((COUNT * SIZE) / MIB).toBeGreaterThan(200);
  expect((most - least) / MIB).toBeLessThan(180);

  for (const response of stalled) {
    const read: Read = { numbers: [], cursor: "" };
    expect(await readOn(response, read), "whether it was cut").toBe(true);
    // What lay in the network, and no more.
    expect(read.numbers.length * SIZE).toBeLessThan(32 * MIB);
    while (await readOn(await open(feed, read.cursor || undefined), read));
    expect(read.numbers).toEqual(all);
  }
});
