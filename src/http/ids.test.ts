import { describe, expect, it } from "vitest";
import { requestId, traceParent } from "./ids.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

describe("requestId", () => {
  it.each(["a", "A-b_c.9", "x".repeat(128)])("keeps the caller's own: %s", (id) => {
    expect(requestId(id)).toBe(id);
  });

  it.each([null, "", "x".repeat(129), "a b", "a\nb", "é", "a/b", "<script>"])("replaces %j", (id) => {
    expect(requestId(id)).toMatch(/^[0-9a-f]{32}$/);
  });

  it("does not repeat, across many refills of its pool", () => {
    expect(new Set(Array.from({ length: 5000 }, () => requestId(null))).size).toBe(5000);
  });
});

describe("traceParent", () => {
  it("continues a valid trace with a span of its own", () => {
    const ours = traceParent(`00-${TRACE}-${PARENT}-01`);
    expect(ours).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(ours).not.toContain(PARENT);
  });

  it("keeps only the sampled flag, and answers a later version in ours", () => {
    expect(traceParent(`00-${TRACE}-${PARENT}-03`)).toMatch(/-01$/);
    expect(traceParent(`cc-${TRACE}-${PARENT}-00-extra`)).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });

  it.each([
    null,
    "",
    `ff-${TRACE}-${PARENT}-01`,
    `00-${"0".repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-01-extra`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}`,
  ])("begins anew for %j", (inbound) => {
    const ours = traceParent(inbound);
    expect(ours).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(ours).not.toContain(TRACE);
  });
});
