import { expect } from "vitest";
import type { Bus } from "../../../src/backends/index.ts";

/**
 * Expects that a listener of each bus receives the messages of its own bus only, for the same channel. The listeners are
 * called directly: a subscriber that reads the history again would hide what it was sent by mistake.
 */
export async function expectSeparate(buses: readonly Bus[]): Promise<void> {
  const received = buses.map((): string[] => []);
  const stops = await Promise.all(
    buses.map((bus, at) =>
      bus.watch("a", (entry) => void (entry?.data !== undefined && received[at]?.push(entry.data))),
    ),
  );
  for (const [at, bus] of buses.entries()) await bus.publish("a", `"first of ${at}"`);
  // The server delivers in order: with its second message, each bus has received all first ones that it can receive.
  for (const [at, bus] of buses.entries()) await bus.publish("a", `"second of ${at}"`);
  await expect.poll(() => received.map((list) => list.at(-1))).toEqual(buses.map((_, at) => `"second of ${at}"`));
  expect(received).toEqual(buses.map((_, at) => [`"first of ${at}"`, `"second of ${at}"`]));
  for (const stop of stops) stop();
}
