import { describe, expect, it } from "vitest";
import { clientAddress } from "./client-address.ts";

describe("clientAddress", () => {
  it.each([
    // peer, X-Forwarded-For, number of trusted proxies, expected address
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
    ["10.0.0.1", "1.2.3.4:51000", 1, "1.2.3.4"],
    ["10.0.0.1", "2001:db8::1", 1, "2001:db8::1"],
    ["10.0.0.1", "[2001:db8::1]", 1, "2001:db8::1"],
    ["10.0.0.1", "[2001:db8::1]:51000", 1, "2001:db8::1"],
    ["10.0.0.1", "[::ffff:1.2.3.4]:51000", 1, "1.2.3.4"],
    ["10.0.0.1", "unknown", 1, "unknown"],
  ])(
    "for peer %s, X-Forwarded-For %j and %i trusted proxies returns %s",
    (peer, forwardedFor, trustProxy, expected) => {
      expect(clientAddress(peer, forwardedFor, trustProxy)).toBe(expected);
    },
  );
});
