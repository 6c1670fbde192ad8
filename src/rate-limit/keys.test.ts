import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { clientKey, clientNetwork, hashedKey } from "./keys.ts";

describe("clientNetwork", () => {
  it.each([
    ["1.2.3.4", "1.2.3.4"],
    ["not:an:address", "not:an:address"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:db8:1:ffff::1", "2001:db8:1::/48"],
    ["2001:db8:2:2::1", "2001:db8:2::/48"],
    ["::1", "0:0:0::/48"],
  ])("of the address %j is %s", (address, network) => {
    expect(clientNetwork(clientKey(address))).toBe(network);
  });
});

describe("clientKey", () => {
  it.each([
    ["1.2.3.4", "1.2.3.4"],
    ["", ""],
    ["unknown", "unknown"],
    ["not:an:address", "not:an:address"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::ffff:1.2.3.4", "0:0:0:0::/64"],
    ["1::8", "1:0:0:0::/64"],
    ["1:2:3:4:5:6:7::", "1:2:3:4::/64"],
    ["::2:3:4:5:6:7:8", "0:2:3:4::/64"],
  ])("counts the address %j under the key %s", (address, key) => {
    expect(clientKey(address)).toBe(key);
  });

  it("is the same for every address of a /64 network in any notation, and different for the next network", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(
        fc.array(group, { minLength: 8, maxLength: 8 }),
        fc.array(group, { minLength: 4, maxLength: 4 }),
        (all, rest) => {
          const prefix = all.slice(0, 4);
          const format = (groups: number[]) => groups.map((group) => group.toString(16)).join(":");
          expect(clientKey(format([...prefix, ...rest]))).toBe(clientKey(format(all)));
          const next = [...prefix.slice(0, 3), ((prefix[3] ?? 0) + 1) % 0x10000, ...rest];
          expect(clientKey(format(next))).not.toBe(clientKey(format(all)));
          // The canonical notation of the URL standard, with `::` for the longest run of zeros.
          const canonical = new URL(`http://[${format(all)}]`).hostname.slice(1, -1);
          expect(clientKey(canonical)).toBe(clientKey(format(all)));
        },
      ),
    );
  });
});

describe("hashedKey", () => {
  it("is 22 characters long for any text, and different for different texts", () => {
    fc.assert(
      fc.property(anyText(), anyText({ maxLength: 3 }), (one, other) => {
        expect(hashedKey(one)).toMatch(/^[\w-]{22}$/);
        expect(hashedKey(one) === hashedKey(other)).toBe(one === other);
      }),
    );
    expect(hashedKey("x".repeat(10_000_000))).toHaveLength(22);
  });

  it("is different for unpaired surrogates, which are equal in UTF-8", () => {
    expect(hashedKey("ada\ud800")).not.toBe(hashedKey("ada\ud801"));
  });
});
