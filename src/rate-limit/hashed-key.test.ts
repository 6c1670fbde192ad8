import fc from "fast-check";
import { expect, it } from "vitest";
import { hashedKey } from "./hashed-key.ts";

it("is 22 characters long for any text, and different for different texts", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary", maxLength: 3 }), (one, other) => {
      expect(hashedKey(one)).toMatch(/^[\w-]{22}$/);
      expect(hashedKey(one) === hashedKey(other)).toBe(one === other);
    }),
  );
  expect(hashedKey("x".repeat(10_000_000))).toHaveLength(22);
});

it("is different for unpaired surrogates, which are equal in UTF-8", () => {
  expect(hashedKey("ada\ud800")).not.toBe(hashedKey("ada\ud801"));
});
