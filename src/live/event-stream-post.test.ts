/** Event streams in responses to POST, where they differ from those to GET. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEventStreams, type EventStreams, expectMessages, type FakeClient } from "#test/event-stream-client";

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const POST = { hasShortIds: true };
let bus: EventStreams["bus"];
let connect: EventStreams["connect"];
let publishAll: EventStreams["publishAll"];
let close: EventStreams["close"];

beforeEach(() => {
  ({ bus, connect, publishAll, close } = createEventStreams(log));
});
afterEach(() => close());

const idsOf = ({ writes }: FakeClient) => [...writes.join("").matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id);

describe("an event stream of a POST", () => {
  it("sends as the id of a message the index of its feed and its position, live and from the bus", async () => {
    const from = await bus.position(["a", "b"]);
    const b = await bus.publish("b", "1");
    const { client } = await connect(["a", "b"], from, POST);
    await expectMessages(client, [1]);
    const a = await bus.publish("a", "2");
    await expectMessages(client, [1, 2]);
    expect(idsOf(client)).toEqual([`1=${b}`, `0=${a}`]);
  });

  it("sends as the id of a gap the index of its feed and -", async () => {
    const { client } = await connect(["a", "b"], undefined, POST);
    bus.loseHistory();
    await expect.poll(() => client.gaps.toSorted()).toEqual(["a reset", "b reset"]);
    expect(idsOf(client).toSorted()).toEqual(["0=-", "1=-"]);
  });

  it.each([
    [true, (positions: readonly string[]) => `1=${positions[1]}`],
    [false, (positions: readonly string[]) => positions.join()],
  ])(
    "tells with a ping the positions of quiet feeds that have advanced, once (short ids: %s)",
    async (hasShortIds, idOf) => {
      const { client, stream } = await connect(["a", "b"], undefined, { hasShortIds });
      await publishAll("a", [1]);
      await expectMessages(client, [1]);
      const [a = ""] = client.lastId.replace("0=", "").split(",");
      await publishAll("elsewhere", [2, 3]);
      await bus.notifyProgress("b");
      const [end = ""] = await bus.position(["b"]);
      const now = performance.now();
      const written = client.writes.length;
      stream.tick(now + 21_000);
      stream.tick(now + 42_000);
      expect(client.writes.slice(written)).toEqual([
        `id: ${idOf([a, end])}\nevent: ping\ndata: 1\n\n`,
        "event: ping\ndata: 1\n\n",
      ]);
      const reads = bus.readCount;
      const again = await connect(["a", "b"], [a, end], { hasShortIds });
      await publishAll("b", [4]);
      await expectMessages(again.client, [4]);
      expect(bus.readCount).toBe(reads); // the position is one that the channel's buffer knows
    },
  );

  it("tells no position of a feed while its messages were not sent, or after its gap", async () => {
    const { client, stream } = await connect(["a", "b"], undefined, POST);
    await publishAll("a", [1]);
    await expectMessages(client, [1]);
    client.isReading = false;
    await publishAll("a", [2]);
    await expectMessages(client, [1, 2]);
    await publishAll("a", [3]);
    await bus.notifyProgress("a");
    stream.tick(performance.now() + 5_000);
    expect(client.messages).toEqual([1, 2]);
    expect(idsOf(client).length).toBe(2);
    client.isReading = true;
    stream.onDrain();
    await expectMessages(client, [1, 2, 3]);
    bus.loseHistory();
    await expect.poll(() => client.gaps.length).toBe(2);
    await bus.notifyProgress("a");
    const written = client.writes.length;
    stream.tick(performance.now() + 63_000);
    expect(client.writes.slice(written)).toEqual(["event: ping\ndata: 1\n\n"]);
  });

  it("can be resumed after any event, without losing or repeating a message", async () => {
    const channels = ["a", "b", "c"];
    const positions = await bus.position(channels);
    const { client } = await connect(channels, positions, POST);
    for (let n = 0; n < 12; n++) await bus.publish(channels[n % 3] ?? "", String(n));
    await expect.poll(() => client.messages.length).toBe(12);
    for (const [index, id] of idsOf(client).entries()) {
      const [feed = "", position = ""] = id.split("=");
      positions[Number(feed)] = position;
      const again = await connect(channels, positions, POST);
      const received = client.messages.slice(0, index + 1);
      await expect.poll(() => new Set([...received, ...again.client.messages]).size).toBe(12);
      expect(received.length + again.client.messages.length).toBe(12);
      again.stream.onClose();
    }
  });

  it("shares the bytes of its messages with those in which the channel has the same index, also among other feeds", async () => {
    const chunks = new Map<FakeClient, Uint8Array[]>();
    const open = async (channels: readonly string[]) => {
      const { client, stream } = await connect(channels, undefined, POST);
      Object.assign(client, {
        writeShared: (bytes: Uint8Array) => {
          chunks.set(client, [...(chunks.get(client) ?? []), bytes]);
          return client.write(bytes);
        },
      });
      return { client, stream };
    };
    const [one, two, other] = [await open(["a"]), await open(["a", "b"]), await open(["b", "a"])];
    await publishAll("a", [1]);
    for (const { client } of [one, two, other]) await expectMessages(client, [1]);
    const [[first], [second], [third]] = [one, two, other].map(({ client }) => chunks.get(client) ?? []) as [
      Uint8Array[],
      Uint8Array[],
      Uint8Array[],
    ];
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it("has up to 256 feeds, each of which delivers once and in order while others are behind", async () => {
    const channels = Array.from({ length: 256 }, (_, n) => `room:${n}`);
    const from = await bus.position(channels);
    for (let n = 0; n < 512; n++) await bus.publish(channels[(n * 7) % 256] ?? "", String(n));
    const { client } = await connect(channels, from, POST);
    for (let n = 512; n < 1024; n++) await bus.publish(channels[(n * 7) % 256] ?? "", String(n));
    await expect.poll(() => client.messages.length).toBe(1024);
    const byFeed = new Map<number, number[]>();
    for (const n of client.messages as number[]) byFeed.set((n * 7) % 256, [...(byFeed.get((n * 7) % 256) ?? []), n]);
    for (const numbers of byFeed.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(client.messages).size).toBe(1024);
  });
});
