import { describe, expect, it } from "vitest";
import { MemoryLimit } from "./upload-limit.ts";

describe("the limit of bytes in memory", () => {
  it("bounds the bytes of one client by the maximum of the route, and not those of others", () => {
    const limit = new MemoryLimit();
    expect(limit.take("a", 10, 10)).toBe(true);
    expect(limit.take("a", 1, 10)).toBe(false);
    expect(limit.take("a", 10, 20)).toBe(true);
    expect(limit.take("b", 10, 10)).toBe(true);
  });

  it("forgets a client whose bytes were released", () => {
    const limit = new MemoryLimit();
    limit.take("a", 7, 10);
    limit.release("a", 3);
    expect([limit.take("a", 7, 10), limit.take("a", 6, 10), limit.clients]).toEqual([false, true, 1]);
    limit.release("a", 10);
    expect(limit.clients).toBe(0);
  });

  it("keeps no entry for a client without bytes", () => {
    const limit = new MemoryLimit();
    limit.take("a", 0, 10);
    limit.take("a", 11, 10);
    expect(limit.clients).toBe(0);
  });
});
