import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
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
    ["10.0.0.1", null, 1, ""],
    ["10.0.0.1", "::ffff:1.2.3.4", 1, "1.2.3.4"],
    ["10.0.0.1", "1.2.3.4:51000", 1, "1.2.3.4"],
    ["10.0.0.1", "2001:db8::1", 1, "2001:db8::1"],
    ["10.0.0.1", "[2001:db8::1]", 1, "2001:db8::1"],
    ["10.0.0.1", "[2001:db8::1]:51000", 1, "2001:db8::1"],
    ["10.0.0.1", "[::ffff:1.2.3.4]:51000", 1, "1.2.3.4"],
    ["::FFFF:1.2.3.4", null, 0, "1.2.3.4"],
    ["10.0.0.1", "::ffff:0102:0304", 1, "1.2.3.4"],
    ["10.0.0.1", "::FFFF:102:304", 1, "1.2.3.4"],
    ["10.0.0.1", "[0:0:0:0:0:ffff:102:304]:51000", 1, "1.2.3.4"],
    ["10.0.0.1", "0000:0000:0000:0000:0000:FfFf:1.2.3.4", 1, "1.2.3.4"],
    ["10.0.0.1", "::ffff:255.255.0.1", 1, "255.255.0.1"],
    ["10.0.0.1", "2001:db8::ffff:102:304", 1, "2001:db8::ffff:102:304"],
    ["10.0.0.1", "::ffff:0:1.2.3.4", 1, "::ffff:0:1.2.3.4"],
    ["10.0.0.1", "::ffff:1.2.3.4%eth0", 1, "::ffff:1.2.3.4%eth0"],
    ["10.0.0.1", "::ffff:1.2.3.999", 1, "::ffff:1.2.3.999"],
    ["10.0.0.1", "unknown", 1, "unknown"],
  ])(
    "for peer %s, X-Forwarded-For %j and %i trusted proxies returns %s",
    (peer, forwardedFor, trustProxy, expected) => {
      expect(clientAddress(peer, forwardedFor, trustProxy)).toBe(expected);
    },
  );

  it("cuts a forwarded text that is longer than an address", () => {
    expect(clientAddress("10.0.0.1", "x".repeat(64), 1)).toBe("x".repeat(64));
    expect(clientAddress("10.0.0.1", "x".repeat(16_000), 1)).toBe("x".repeat(64));
  });

  it("does not keep the header in memory that it was read from", () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const padding = "6.6.6.6, ".repeat(1_000);
    const addresses: string[] = [];
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 1_000; i++) {
      const header = Buffer.from(`${padding}203.0.113.${i}`).toString();
      addresses.push(clientAddress("10.0.0.1", header, 1));
    }
    collectGarbage();
    expect((process.memoryUsage().heapUsed - before) / addresses.length).toBeLessThan(1_000);
    expect(addresses[999]).toBe("203.0.113.999");
  });
});
