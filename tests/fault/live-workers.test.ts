/**
 * Several processes of one `tsweb serve`: what is published in one is delivered by the others.
 */
import { afterEach, beforeAll, expect, it } from "vitest";
import { readEvents } from "#test/event-stream";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import { type Running, startBuilt } from "#test/run-tsweb";
import type { Site } from "#test/site";
import { callFunction } from "#test/torture-call";
import { buildTortureSite, sharedEnvironment } from "#test/torture-site";

let site: Site;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  site = await buildTortureSite();
  return () => site.remove();
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Publishes in some process the number of that process, by a connection of its own, and gives it. */
async function sayIn({ address }: Running, room: string): Promise<string> {
  const response = await fetch(`${address}/__web/rpc/say_here`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ args: { room } }),
  });
  return String((await response.json()).result);
}

it.each([
  ["Redis", () => RedisServer.start()],
  ["NATS", () => NatsServer.start()],
])("deliver what another one published, over %s", async (_, start) => {
  const bus = await start();
  ends.push(() => bus.stop());
  const server = await startBuilt(site.dir, { ...sharedEnvironment(bus.url), WEB_WORKERS: "2" });
  ends.push(() => server.stop());

  // Whichever process has a stream, it has to hear of both.
  const [feed = ""] = await callFunction<string[]>(server.address, "feeds", { names: ["room"] });
  const streams = await Promise.all([1, 2, 3, 4].map(() => fetch(`${server.address}/__web/live?feed=${feed}`)));
  const published: string[] = [];
  await expect
    .poll(
      async () => {
        published.push(await sayIn(server, "room"));
        return new Set(published).size;
      },
      { timeout: 20_000 },
    )
    .toBe(2);
  for (const { body } of streams) {
    const heard: string[] = [];
    for await (const { event, data } of readEvents(body)) {
      expect(event).toBe("message");
      heard.push(JSON.parse(data[1] ?? ""));
      if (heard.length === published.length) break;
    }
    expect(heard).toEqual(published);
  }
});
