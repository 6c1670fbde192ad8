/**
 * Several processes of one server: each delivers the messages that the others publish.
 */
import { afterEach, beforeAll, expect, it } from "vitest";
import { sharedEnv } from "#test/app-process";
import { callFunction } from "#test/call-function";
import { readEvents } from "#test/event-stream";
import { buildLiveApp } from "#test/live-app";
import { NatsServer } from "#test/nats-server";
import { RedisServer } from "#test/redis-server";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

let project: TestProject;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  project = await buildLiveApp();
  return () => project.remove();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Makes one of the processes publish its process id, through a new connection. @returns the process id */
async function publishPid({ address }: RunningServer, room: string): Promise<string> {
  const response = await fetch(`${address}/__web/rpc/publish_pid`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ args: { room } }),
  });
  return String((await response.json()).result);
}

it.each([
  ["Redis", () => RedisServer.start()],
  ["NATS", () => NatsServer.start()],
])("every worker process delivers the messages of the other one over %s", async (_, start) => {
  const bus = await start();
  cleanups.push(() => bus.stop());
  const server = await startBuilt(project.dir, { ...sharedEnv(bus.url), WEB_WORKERS: "2" });
  cleanups.push(() => server.stop());

  // Any process may serve any of these event streams: each stream has to deliver the messages of both.
  const [feed = ""] = await callFunction<string[]>(server.address, "issue_feeds", { names: ["room"] });
  const streams = await Promise.all([1, 2, 3, 4].map(() => fetch(`${server.address}/__web/live?feed=${feed}`)));
  const published: string[] = [];
  await expect
    .poll(async () => {
      published.push(await publishPid(server, "room"));
      return new Set(published).size;
    })
    .toBe(2);
  for (const { body } of streams) {
    const received: string[] = [];
    for await (const { event, data } of readEvents(body)) {
      if (event === "ping") continue; // the second process may take longer to start than the time between pings
      expect(event).toBe("message");
      received.push(JSON.parse(data[1] ?? ""));
      if (received.length === published.length) break;
    }
    expect(received).toEqual(published);
  }
});
