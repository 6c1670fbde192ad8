/**
 * A NATS server whose disk is full. It then stores nothing until it is started again, whatever is freed.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { fillDisk, mountTmpfs, unmount } from "#test/full-disk";
import { NatsServer } from "#test/nats-server";
import { recordedLog } from "#test/recorded-log";
import { TemporaryFolder } from "#test/temporary-folder";
import { nats } from "../../src/backends/nats/bus.ts";
import { endOf, readAll, TestSubscriber } from "../conformance/bus.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("NATS with a full disk", () => {
  it("confirms no message, and delivers all in order, once and without a gap when it was started again with free space", async () => {
    const folder = new TemporaryFolder("full-disk");
    cleanups.push(() => folder.remove());
    mountTmpfs(folder.path, "20m");
    cleanups.push(() => unmount(folder.path));
    const server = await NatsServer.start({ storeFolder: folder.path });
    cleanups.push(() => server.stop());
    const bus = nats({ url: server.url, namespace: "shop", log: recordedLog().log, bytes: 4 * 1024 ** 2 });
    cleanups.push(() => bus.close());
    const subscriber = await TestSubscriber.start(bus, "a");
    const from = await endOf(bus, "a");
    const large = (n: number) => JSON.stringify(`${n} ${"x".repeat(60_000)}`);
    await bus.publish("a", large(0));
    const filler = join(folder.path, "filler");
    fillDisk(filler);
    const rejected: number[] = [];
    for (let n = 1; rejected.length === 0; n++) await bus.publish("a", large(n)).catch(() => rejected.push(n));
    rmSync(filler);
    await server.kill();
    await server.restart();
    const later = large(1_000);
    await bus.publish("a", later);
    const stored = (await readAll(bus, "a", from)).map(({ data }) => data);
    const confirmed = Array.from({ length: rejected[0] ?? 0 }, (_, n) => large(n));
    const expected = [...confirmed, later];
    // A message that was not confirmed is stored in its order, or never.
    expect([expected, [...confirmed, large(rejected[0] ?? 0), later]]).toContainEqual(stored);
    await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(stored);
    expect(subscriber.gaps).toBe(0);
    subscriber.stop();
  }, 120_000);
});
