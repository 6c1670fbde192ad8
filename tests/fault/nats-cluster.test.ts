/**
 * What only a NATS cluster does: a message is in the memory of its leader before most of the servers have stored it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { TEST_NAMESPACE } from "#test/app-process";
import { startNatsCluster } from "#test/clusters";
import { recordedLog } from "#test/recorded-log";
import { nats } from "../../src/live/bus/nats.ts";
import { subjectOfUser } from "../../src/revocation/index.ts";
import { endOf, readAll, whenResponding } from "../conformance/bus.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("a NATS cluster whose leader is alone", () => {
  it("confirms no message and no revocation, however often they are sent, until another server has stored them", async () => {
    const servers = await startNatsCluster();
    cleanups.push(() => servers.stop());
    const bus = nats({ url: servers.urls[0], namespace: TEST_NAMESPACE, log: recordedLog().log });
    cleanups.push(() => bus.close());
    const from = await whenResponding(() => endOf(bus, "a"));
    await bus.publish("a", "1");
    await bus.revocations?.append(subjectOfUser("ada"));
    await servers.ready();
    await servers.freezeReplicas?.();
    const confirmed: string[] = [];
    const published = bus.publish("a", "2").then(() => void confirmed.push("message"));
    const revoked = bus.revocations?.append(subjectOfUser("bob")).then(
      () => void confirmed.push("revocation"),
      () => "rejected",
    );
    await pause(5_000); // in which both are sent several times
    expect(confirmed).toEqual([]);
    expect(await revoked).toBe("rejected");
    await servers.restore();
    await published;
    expect((await whenResponding(() => readAll(bus, "a", from))).map(({ data }) => data)).toEqual(["1", "2"]);
  }, 120_000);

  it("stores a message whose publish has rejected before the later ones of its channel, once", async () => {
    const servers = await startNatsCluster();
    cleanups.push(() => servers.stop());
    const bus = nats({ url: servers.urls[0], namespace: TEST_NAMESPACE, log: recordedLog().log });
    cleanups.push(() => bus.close());
    const channels = ["a", "b", "c", "d", "e"];
    const from = await whenResponding(() => endOf(bus, "a"));
    await bus.publish("a", "0");
    await servers.ready();
    await servers.freezeReplicas?.();
    const publishAll = (data: string) => Promise.allSettled(channels.map((channel) => bus.publish(channel, data)));
    const rejected = await publishAll("1"); // after 10 seconds
    expect(rejected.map(({ status }) => status)).toEqual(channels.map(() => "rejected"));
    const later = publishAll("2");
    await pause(2_000);
    await servers.restore();
    expect((await later).map(({ status }) => status)).toEqual(channels.map(() => "fulfilled"));
    for (const channel of channels) {
      const stored = await whenResponding(() => readAll(bus, channel, from));
      expect(stored.map(({ data }) => data).filter((data) => data !== "0")).toEqual(["1", "2"]);
    }
  }, 120_000);
});
