import { describe, expect, it } from "vitest";
import { requestId } from "./request-ids.ts";

describe("requestId", () => {
  it.each(["a", "A-b_c.9", "x".repeat(128)])("keeps a valid id of the client: %s", (id) => {
    expect(requestId(id)).toBe(id);
  });

  it.each([null, "", "x".repeat(129), "a b", "a\nb", "é", "a/b", "<script>"])("replaces the invalid id %j", (id) => {
    expect(requestId(id)).toMatch(/^[0-9a-f]{32}$/);
  });

  it("never returns an id twice, across many refills of the random pool", () => {
    expect(new Set(Array.from({ length: 5000 }, () => requestId(null))).size).toBe(5000);
  });
});
