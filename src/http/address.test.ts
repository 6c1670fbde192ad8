import { describe, expect, it } from "vitest";
import { clientAddress } from "./address.ts";

describe("clientAddress", () => {
  it.each([
    // peer, X-Forwarded-For, trusted, is
    ["10.0.0.1", null, 0, "10.0.0.1"],
    ["::ffff:10.0.0.1", null, 0, "10.0.0.1"],
    ["::1", null, 0, "::1"],
    ["10.0.0.1", "1.2.3.4", 0, "10.0.0.1"],
    ["10.0.0.1", "1.2.3.4", 1, "1.2.3.4"],
    ["10.0.0.1", "6.6.6.6, 1.2.3.4", 1, "1.2.3.4"],
    ["10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.9", 2, "1.2.3.4"],
    ["10.0.0.1", "1.2.3.4", 3, "1.2.3.4"],
    ["10.0.0.1", "", 1, "10.0.0.1"],
    ["10.0.0.1", "1.2.3.4, ", 1, "10.0.0.1"],
    ["10.0.0.1", null, 1, "10.0.0.1"],
    ["10.0.0.1", "::ffff:1.2.3.4", 1, "1.2.3.4"],
  ])("peer %s, forwarded %j, %i trusted: %s", (peer, forwarded, trusted, expected) => {
    expect(clientAddress(peer, forwarded, trusted)).toBe(expected);
  });
});
