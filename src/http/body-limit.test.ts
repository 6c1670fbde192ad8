import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyLimit, ByteCounts, formatBytes } from "./body-limit.ts";

const byAddress = (address: string) => address;

describe("a limit of body bytes in flight", () => {
  it("accepts bytes below and at the limit, and none above it", () => {
    const limit = new BodyLimit(10, byAddress);
    expect(limit.take("a", 9)).toBe(true);
    expect(limit.take("a", 2)).toBe(false);
    expect(limit.take("a", 1)).toBe(true);
    expect(limit.take("a", 1)).toBe(false);
    expect(limit.take("a", 0)).toBe(true);
    limit.release("a", 1);
    expect(limit.take("a", 1)).toBe(true);
  });

  it("counts each client for itself", () => {
    const limit = new BodyLimit(10, byAddress);
    expect(limit.take("a", 10)).toBe(true);
    expect(limit.take("a", 1)).toBe(false);
    expect(limit.take("b", 10)).toBe(true);
    limit.release("a", 10);
    expect(limit.take("a", 10)).toBe(true);
  });

  it("never exceeds the limit, and uses no memory for clients without bytes, for any order of requests", () => {
    const step = fc.record({ client: fc.constantFrom("a", "b"), bytes: fc.nat(6), isEnd: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const limit = new BodyLimit(10, byAddress);
        const held = new Map<string, number[]>([
          ["a", []],
          ["b", []],
        ]);
        for (const { client, bytes, isEnd } of steps) {
          const own = held.get(client) ?? [];
          if (isEnd && own.length > 0) limit.release(client, own.shift() ?? 0);
          const sum = own.reduce((a, b) => a + b, 0);
          const isTaken = limit.take(client, bytes);
          expect(isTaken).toBe(sum + bytes <= 10);
          if (isTaken) own.push(bytes);
        }
        for (const [client, own] of held) for (const bytes of own) limit.release(client, bytes);
        expect(limit.clients).toBe(0);
      }),
    );
  });
});

describe("the counts of bytes in memory", () => {
  it("bounds the bytes of one client by the maximum of the route, and not those of others", () => {
    const counts = new ByteCounts();
    expect(counts.take("a", 10, 10)).toBe(true);
    expect(counts.take("a", 1, 10)).toBe(false);
    expect(counts.take("a", 10, 20)).toBe(true);
    expect(counts.take("b", 10, 10)).toBe(true);
  });

  it("forgets a client whose bytes were released", () => {
    const counts = new ByteCounts();
    counts.take("a", 7, 10);
    counts.release("a", 3);
    expect([counts.take("a", 7, 10), counts.take("a", 6, 10), counts.clients]).toEqual([false, true, 1]);
    counts.release("a", 10);
    expect(counts.clients).toBe(0);
  });

  it("keeps no entry for a client without bytes", () => {
    const counts = new ByteCounts();
    counts.take("a", 0, 10);
    counts.take("a", 11, 10);
    expect(counts.clients).toBe(0);
  });
});

it.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [1024 * 1024, "1 MB"],
  [5_000_000, "5 MB"],
  [1_990_000, "1.9 MB"],
  [20_000_000_000, "20 GB"],
  [20_000_000_000_000, "20000 GB"],
])("%d bytes are shown to users as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
