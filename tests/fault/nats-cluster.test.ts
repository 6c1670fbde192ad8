/**
 * What only a NATS cluster does: a message is in the memory of its leader before most of the servers have stored it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { TEST_NAMESPACE } from "#test/app-process";
import { startNatsCluster } from "#test/clusters";
import { recordedLog } from "#test/recorded-log";
import type { Bus } from "../../src/backends/index.ts";
import { nats } from "../../src/backends/nats/bus.ts";
import { subjectOfUser } from "../../src/revocation/index.ts";
import { endOf, readAll, whenResponding } from "../conformance/bus.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Returns whether the promise resolves. */
const isConfirmed = (published: Promise<unknown>) =>
  published.then(
    () => true,
    () => false,
  );

/**
 * Publishes the numbers from `first` to a channel, twice a second, until one of them is confirmed: each rejects after 10
 * seconds, and NATS 2.9 needs up to 15 seconds to elect a leader after servers were frozen.
 *
 * @returns the texts that were confirmed
 */
async function publishUntilConfirmed(bus: Bus, channel: string, first: number): Promise<string[]> {
  const confirmed: string[] = [];
  const publishing: Promise<unknown>[] = [];
  for (let n = first; confirmed.length === 0; n++) {
    const published = isConfirmed(bus.publish(channel, String(n)));
    publishing.push(published.then((isStored) => isStored && confirmed.push(String(n))));
    await pause(500);
  }
  await Promise.all(publishing);
  return confirmed;
}

/** Expects that a channel contains the texts, that its numbers ascend, and that none is stored twice. */
async function expectInOrder(bus: Bus, channel: string, { from, texts }: { from: string; texts: readonly string[] }) {
  const stored = (await whenResponding(() => readAll(bus, channel, from))).map(({ data }) => data);
  expect(stored).toEqual(expect.arrayContaining([...texts]));
  expect(stored).toEqual([...new Set(stored)].sort((one, two) => Number(one) - Number(two)));
}

describe("a NATS cluster whose leader is alone", () => {
  /** Starts the servers and a bus. The channel `a` contains the message 0. */
  async function start() {
    const servers = await startNatsCluster();
    cleanups.push(() => servers.stop());
    const bus = nats({ url: servers.urls[0], namespace: TEST_NAMESPACE, log: recordedLog().log });
    cleanups.push(() => bus.close());
    const from = await whenResponding(() => endOf(bus, "a"));
    await bus.publish("a", "0");
    return { servers, bus, from };
  }

  it("confirms no message and no revocation, however often they are sent, until another server has stored them", async () => {
    const { servers, bus, from } = await start();
    await bus.revocations?.append(subjectOfUser("ada"));
    await servers.ready();
    await servers.freezeReplicas?.();
    const confirmed: string[] = [];
    const published = isConfirmed(bus.publish("a", "1").then(() => void confirmed.push("message")));
    const revoked = bus.revocations?.append(subjectOfUser("bob")).then(
      () => void confirmed.push("revocation"),
      () => "rejected",
    );
    await pause(5_000); // in which both are sent several times
    expect(confirmed).toEqual([]);
    expect(await revoked).toBe("rejected");
    await servers.restore();
    await published; // rejected if the election takes longer than 5 seconds
    const later = await publishUntilConfirmed(bus, "a", 2);
    await expectInOrder(bus, "a", { from, texts: ["0", "1", ...later] });
  });

  it("stores a message whose publish has rejected before the later ones of its channel, once", async () => {
    const { servers, bus, from } = await start();
    const channels = ["a", "b", "c", "d", "e"];
    await servers.ready();
    await servers.freezeReplicas?.();
    const first = await Promise.all(channels.map((channel) => isConfirmed(bus.publish(channel, "1")))); // 10 seconds
    expect(first).toEqual(channels.map(() => false));
    const publishing = Promise.all(channels.map((channel) => publishUntilConfirmed(bus, channel, 2)));
    await pause(2_000);
    await servers.restore();
    for (const [index, later] of (await publishing).entries()) {
      await expectInOrder(bus, String(channels[index]), { from, texts: ["1", ...later] });
    }
  });
});
