/**
 * Property test: a bus behaves like one list of messages for each channel.
 */

import fc from "fast-check";
import { expect, it } from "vitest";
import { atMost } from "#test/read-limit";
import type { Position } from "../../../src/backends/index.ts";
import { dataOf, endOf, type OpenBuses, uniqueChannel } from "./open-buses.ts";

/** Defines the test of a bus against this model. */
export function modelTests(getBuses: () => OpenBuses): void {
  it("behaves like a list for any sequence of operations", async () => {
    const { bus, other } = getBuses();
    const step = fc.record({
      channel: fc.nat({ max: 2 }),
      busIndex: fc.nat({ max: 1 }),
      operation: fc.constantFrom("publish", "publish", "position", "read"),
      limit: fc.integer({ min: 1, max: 4 }),
      from: fc.nat(),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const names = [uniqueChannel(), uniqueChannel(), uniqueChannel()];
      const models: string[][] = [[], [], []];
      // Every position that was returned, and the number of messages of its channel before it.
      const knownPositions: { position: Position; index: number }[][] = [[], [], []];
      for (const [number, { channel, busIndex, operation, limit, from }] of steps.entries()) {
        const name = names[channel] ?? "";
        const model = models[channel] ?? [];
        const known = knownPositions[channel] ?? [];
        const actor = busIndex === 0 ? bus : other;
        if (operation === "publish") {
          const position = await actor.publish(name, String(number));
          known.push({ position, index: model.push(String(number)) });
        } else if (operation === "position") known.push({ position: await endOf(actor, name), index: model.length });
        else {
          const start = known[from % known.length];
          if (!start) continue;
          const result = await actor.read(name, start.position, atMost(limit));
          expect(dataOf(result.messages)).toEqual(model.slice(start.index, start.index + limit));
          expect([result.gap, result.more]).toEqual([false, start.index + limit < model.length]);
          known.push({ position: result.end, index: start.index + result.messages.length });
        }
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
}
