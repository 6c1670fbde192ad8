import { describe, expect, it } from "vitest";
import { traceParent } from "./request-ids.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

describe("traceParent", () => {
  it("continues a valid trace with a new span id", () => {
    const traceparent = traceParent(`00-${TRACE}-${PARENT}-01`);
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(traceparent).not.toContain(PARENT);
  });

  it("keeps only the sampled flag, and returns version 00 for a later version", () => {
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
  ])("starts a new trace that is not sampled for the header %j", (received) => {
    const traceparent = traceParent(received);
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(traceparent).not.toContain(TRACE);
  });
});
