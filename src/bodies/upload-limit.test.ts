import { describe, expect, it } from "vitest";
import { UploadLimit } from "./upload-limit.ts";

describe("the limit of stored uploads", () => {
  it("bounds the bytes of one client, and not those of others", () => {
    const limit = new UploadLimit({ maxBytes: 100, maxBytesPerClient: 10 });
    expect(limit.take("a", 10)).toBeNull();
    expect(limit.take("a", 1)).toBe("client");
    expect(limit.take("b", 10)).toBeNull();
  });

  it("bounds the bytes of all clients together", () => {
    const limit = new UploadLimit({ maxBytes: 15, maxBytesPerClient: 10 });
    limit.take("a", 10);
    expect(limit.take("b", 6)).toBe("process");
    expect(limit.take("b", 5)).toBeNull();
    expect(limit.bytes).toBe(15);
  });

  it("counts nothing for bytes that it refuses", () => {
    const limit = new UploadLimit({ maxBytes: 10, maxBytesPerClient: 10 });
    limit.take("a", 11);
    expect([limit.bytes, limit.clients]).toEqual([0, 0]);
  });

  it("forgets a client whose bytes were released", () => {
    const limit = new UploadLimit({ maxBytes: 10, maxBytesPerClient: 10 });
    limit.take("a", 7);
    limit.release("a", 3);
    expect([limit.bytes, limit.clients]).toEqual([4, 1]);
    limit.release("a", 4);
    expect([limit.bytes, limit.clients]).toEqual([0, 0]);
  });
});
