/** The header of a call with the positions of what its function has published. */
import { afterEach, expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { createFaultyBus } from "#test/faulty-bus";
import { testConfig } from "#test/request-context";
import type { App } from "../app.ts";
import type { Bus } from "../backends/index.ts";
import { RPCError } from "../errors.ts";
import { redirect } from "../http/index.ts";
import { keysFor } from "../session/index.ts";
import { channelTag } from "./feed.ts";
import { createRealtime, publish } from "./index.ts";

const keys = keysFor(testConfig(), "feed");
const tagOf = (channel: string) => channelTag(keys, channel);

let app: App;
afterEach(() => app.close());

/** Calls a function of an application on a bus, and returns its header. */
async function publishedBy(
  work: () => unknown,
  bus: Bus = createFaultyBus(),
  kind: { readonly stream?: true } = {},
): Promise<string | null> {
  createRealtime({ isBuilt: false }).use_bus(bus);
  app = createTestApp(
    { run: compiledServer("run", work, kind) },
    { env: { WEB_AUTH_SECRET: "5a".repeat(32) }, rate: false },
  );
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"args":{}}' };
  const response = await app.fetch(new Request("http://localhost/__web/rpc/run", init));
  await response.text();
  return response.headers.get("x-published");
}

it("names the position of the last message of each channel, by tag [QUERY-45]", async () => {
  const bus = createFaultyBus();
  const positions: string[] = [];
  const publishNow = bus.publish;
  bus.publish = async (...message) => positions[positions.push(await publishNow(...message)) - 1] as string;
  const header = await publishedBy(async () => {
    await publish("a", 1);
    await publish("b", 1);
    await publish("a", 2);
  }, bus);
  expect(header).toBe(`${tagOf("b")}=${positions[1]},${tagOf("a")}=${positions[2]}`);
});

it("names the last of several messages that were published at once, in whatever order the bus confirms them", async () => {
  const bus = createFaultyBus();
  const confirmations: (() => void)[] = [];
  const publishNow = bus.publish;
  bus.publish = async (channel, data) => {
    const position = await publishNow(channel, data);
    await new Promise<void>((resolve) => confirmations.push(resolve));
    return position;
  };
  const header = publishedBy(async () => {
    const all = [publish("a", 1), publish("a", 2), publish("a", 3)];
    while (confirmations.length < 3) await new Promise((resolve) => setImmediate(resolve));
    for (const confirm of confirmations.reverse()) {
      confirm();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
  }, bus);
  expect(await header).toBe(`${tagOf("a")}=${(await bus.position(["a"]))[0]}`);
});

it("is absent without a message", async () => {
  expect(await publishedBy(() => 1)).toBeNull();
});

it("is absent if no message was awaited", async () => {
  expect(await publishedBy(() => void publish("a"))).toBeNull();
});

it("is absent if the function fails after it has published", async () => {
  const failing = async () => {
    await publish("a");
    throw new RPCError("conflict", "Too late.");
  };
  expect(await publishedBy(failing)).toBeNull();
});

it("is absent if the bus has not stored the message", async () => {
  const bus = createFaultyBus();
  bus.isUnreachable = true;
  expect(await publishedBy(() => publish("a").catch(() => "handled"), bus)).toBeNull();
});

it("is absent if a bus of the application returns no position, and the message counts as published", async () => {
  const bus = Object.assign(createFaultyBus(), { publish: async () => undefined });
  expect(await publishedBy(() => publish("a"), bus as unknown as Bus)).toBeNull();
});

it("is there if the function redirects", async () => {
  const header = await publishedBy(async () => {
    await publish("a");
    return redirect("/next");
  });
  expect(header).toMatch(new RegExp(`^${tagOf("a")}=[^,]+$`));
});

it.each([15, 16, 17])("names the last 16 of %i channels [QUERY-46]", async (count) => {
  const names = Array.from({ length: count }, (_, number) => `room:${number}`);
  const header = await publishedBy(async () => {
    for (const name of names) await publish(name);
  });
  expect(header?.split(",").map((entry) => entry.split("=")[0])).toEqual(names.slice(-16).map(tagOf));
});

it("is absent from a stream", async () => {
  async function* values() {
    await publish("a");
    yield 1;
  }
  expect(await publishedBy(values, createFaultyBus(), { stream: true })).toBeNull();
});

it("names nothing that another request has published meanwhile [QUERY-47]", async () => {
  expect(
    await publishedBy(async () => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"args":{}}' };
      const other = createTestApp({ other: compiledServer("other", () => publish("a")) }, { rate: false });
      await (await other.fetch(new Request("http://localhost/__web/rpc/other", init))).text();
      await other.close();
    }),
  ).toBeNull();
});
