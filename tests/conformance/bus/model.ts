/**
 * A bus does as a list for each channel would.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Position } from "../../../src/live/bus/index.ts";
import { dataOf, endOf, uniqueChannel, type OpenBuses } from "./open-buses.ts";

/** Defines the test of a bus against its model. */
export function modelTests(opened: () => OpenBuses): void {
  it("does as a list would, whatever is done in whatever order", async () => {
    const { bus, other } = opened();
    const step = fc.record({
      channel: fc.nat({ max: 2 }),
      by: fc.nat({ max: 1 }),
      what: fc.constantFrom("publish", "publish", "position", "read"),
      limit: fc.integer({ min: 1, max: 4 }),
      from: fc.nat(),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const names = [uniqueChannel(), uniqueChannel(), uniqueChannel()];
      const models: string[][] = [[], [], []];
      // Every position that was handed out, and how many messages of its channel lie before it.
      const places: { position: Position; at: number }[][] = [[], [], []];
      for (const [number, { channel, by, what, limit, from }] of steps.entries()) {
        const name = names[channel] ?? "";
        const model = models[channel] ?? [];
        const known = places[channel] ?? [];
        const each = by === 0 ? bus : other;
        if (what === "publish") {
          const position = await each.publish(name, String(number));
          known.push({ position, at: model.push(String(number)) });
        } else if (what === "position") known.push({ position: await endOf(each, name), at: model.length });
        else {
          const place = known[from % known.length];
          if (!place) continue;
          const batch = await each.read(name, place.position, limit);
          expect(dataOf(batch.messages)).toEqual(model.slice(place.at, place.at + limit));
          expect([batch.gap, batch.more]).toEqual([false, place.at + limit < model.length]);
          known.push({ position: batch.end, at: place.at + batch.messages.length });
        }
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
}
