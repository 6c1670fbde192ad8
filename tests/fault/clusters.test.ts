/**
 * Fail-overs while publishers publish and listeners listen: the server that stores the messages is killed with SIGKILL.
 * `npm run torture -- clusters` runs more of them, also with Redis Sentinel and a Redis cluster.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { TEST_NAMESPACE } from "#test/app-process";
import {
  type ClusteredServers,
  startNatsCluster,
  startNatsClusterWithTls,
  startRedisCluster,
  startSentinel,
} from "#test/clusters";
import { findLosses, type PublishedMessage } from "#test/delivery-losses";
import { recordedLog } from "#test/recorded-log";
import type { Bus } from "../../src/live/bus/index.ts";
import { openBus } from "../../src/live/bus/index.ts";
import { TestSubscriber } from "../conformance/bus.ts";

const isFull = process.env.TORTURE_SIZE === "full";
const ROUNDS = isFull ? 5 : 1;
const CHANNELS = ["a", "b", "c"];

const KINDS: readonly (readonly [name: string, start: () => Promise<ClusteredServers>])[] = isFull
  ? [
      ["a Redis with Sentinel", startSentinel],
      ["a Redis cluster", startRedisCluster],
      ["a NATS cluster", startNatsCluster],
    ]
  : [["a NATS cluster with TLS", startNatsClusterWithTls]];

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Publishes numbered messages to a channel, one after another, until it is stopped. */
class Publisher {
  readonly name: string;
  readonly channel: string;
  readonly published: PublishedMessage[] = [];
  /** When the last message was acknowledged, by `performance.now`. */
  readonly acknowledgedAt: number[] = [];
  readonly #bus: Bus;
  #isStopped = false;
  readonly #publishing: Promise<void>;

  constructor(bus: Bus, name: string, channel: string) {
    this.#bus = bus;
    this.name = name;
    this.channel = channel;
    this.#publishing = this.#publishAll();
  }

  async #publishAll(): Promise<void> {
    while (!this.#isStopped) {
      await this.#publish();
      await pause(5);
    }
    // The last message shows that everything before it was received, or that there was a gap.
    while (!(await this.#publish())) await pause(100);
  }

  async #publish(): Promise<boolean> {
    const n = this.published.length;
    const result = this.#bus.publish(this.channel, JSON.stringify(`${this.name}:${n}`));
    const isAcknowledged = await result.then(
      () => true,
      () => false,
    );
    this.published.push({ publisher: this.name, n, isAcknowledged });
    if (isAcknowledged) this.acknowledgedAt.push(performance.now());
    return isAcknowledged;
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#publishing;
  }
}

interface Listener {
  readonly channel: string;
  readonly subscriber: TestSubscriber;
}

/**
 * Kills the primary while everybody publishes, and waits until everybody receives messages again. Returns after how many
 * milliseconds all publishers go on.
 */
async function failOver(
  servers: ClusteredServers,
  publishers: readonly Publisher[],
  listeners: readonly Listener[],
): Promise<number> {
  await servers.ready();
  await servers.killPrimary();
  const killedAt = performance.now();
  const isGoingOn = ({ acknowledgedAt }: Publisher) => (acknowledgedAt.at(-1) ?? 0) > killedAt;
  await expect.poll(() => publishers.every(isGoingOn), { timeout: 120_000 }).toBe(true);
  const firstOf = ({ acknowledgedAt }: Publisher) => acknowledgedAt.find((at) => at > killedAt) ?? killedAt;
  await servers.restore();
  const counts = listeners.map(({ subscriber }) => subscriber.received.length);
  const isReceiving = () => listeners.every(({ subscriber }, n) => subscriber.received.length > (counts[n] ?? 0) + 10);
  await expect.poll(isReceiving, { timeout: 120_000 }).toBe(true);
  return Math.max(...publishers.map(firstOf)) - killedAt;
}

/** Returns the losses of a listener. */
function lossesOf(subscriber: TestSubscriber, publishers: readonly Publisher[]) {
  const messages = subscriber.received.map(({ data }) => {
    const [publisher = "", n = ""] = String(JSON.parse(data)).split(":");
    return { publisher, n: Number(n) };
  });
  const published = publishers.flatMap(({ published }) => published);
  return findLosses(published, { messages, gapIndexes: subscriber.gapIndexes });
}

describe.each(KINDS)("%s", (name, start) => {
  it("loses no acknowledged message in a fail-over without a gap, and none at all if it stores several copies first", async () => {
    const servers = await start();
    cleanups.push(() => servers.stop());
    const buses = servers.urls.map((busUrl) =>
      openBus({ busUrl, busNamespace: TEST_NAMESPACE, log: recordedLog().log }),
    );
    for (const bus of buses) cleanups.push(() => bus.close());
    for (const bus of buses) await expect.poll(() => bus.position([]).then(() => true, String)).toBe(true);
    const pairs = buses.flatMap((bus, n) => CHANNELS.map((channel) => ({ bus, channel, name: `${n}-${channel}` })));
    const listeners = await Promise.all(
      pairs.map(async ({ bus, channel }) => ({ channel, subscriber: await TestSubscriber.start(bus, channel) })),
    );
    const publishers = pairs.map((pair) => new Publisher(pair.bus, pair.name, pair.channel));
    const outages: number[] = [];
    for (let round = 0; round < ROUNDS; round++) outages.push(await failOver(servers, publishers, listeners));
    await Promise.all(publishers.map((publisher) => publisher.stop()));
    const ofChannel = (channel: string) => publishers.filter((publisher) => publisher.channel === channel);
    for (const { channel, subscriber } of listeners) {
      const lasts = ofChannel(channel).map((publisher) =>
        JSON.stringify(`${publisher.name}:${publisher.published.length - 1}`),
      );
      await expect.poll(() => lasts.every((last) => subscriber.received.some(({ data }) => data === last))).toBe(true);
      subscriber.stop();
    }
    const losses = listeners.map(({ channel, subscriber }) => lossesOf(subscriber, ofChannel(channel)));
    if (isFull) report(name, { publishers, outages, listeners, inGaps: losses.map(({ inGaps }) => inGaps) });
    expect(losses.flatMap(({ silent }) => silent)).toEqual([]);
    expect(losses.flatMap(({ disordered }) => disordered)).toEqual([]);
    const stored = await servers.readStored?.();
    if (stored)
      expect(CHANNELS.flatMap((channel) => findUnstored(ofChannel(channel), stored.all(channel)))).toEqual([]);
    else for (const { subscriber } of listeners) expect(subscriber.gaps).toBeGreaterThanOrEqual(ROUNDS);
  }, 900_000);
});

/** Returns the acknowledged messages that are not stored. */
function findUnstored(publishers: readonly Publisher[], stored: readonly string[]): string[] {
  const texts = new Set(stored);
  const acknowledged = publishers.flatMap(({ published }) => published.filter(({ isAcknowledged }) => isAcknowledged));
  return acknowledged.map(({ publisher, n }) => `${publisher}:${n}`).filter((text) => !texts.has(text));
}

interface Figures {
  readonly publishers: readonly Publisher[];
  readonly outages: readonly number[];
  readonly listeners: readonly { readonly subscriber: TestSubscriber }[];
  readonly inGaps: readonly number[];
}

function report(name: string, { publishers, outages, listeners, inGaps }: Figures): void {
  const published = publishers.flatMap((publisher) => publisher.published);
  const refused = published.filter(({ isAcknowledged }) => !isAcknowledged).length;
  console.log(
    `${name}: ${published.length} messages, ${refused} not acknowledged; outages ${outages.map((ms) => (ms / 1000).toFixed(1)).join(", ")} s; ` +
      `gaps of each listener: ${listeners.map(({ subscriber }) => subscriber.gaps).join(", ")}; ` +
      `acknowledged messages that it missed in them: ${inGaps.join(", ")}`,
  );
}
