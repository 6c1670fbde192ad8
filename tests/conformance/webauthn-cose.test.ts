/**
 * Conversion of COSE keys, as authenticators register them, to points.
 */
import { encodeCBOR } from "@levischuck/tiny-cbor";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cose_to_raw_point } from "../../src/auth/index.ts";
import { ValueError } from "../../src/index.ts";
import { coseKey, hex, Passkey } from "./webauthn-passkey.ts";

const { point } = new Passkey();
const key = (changes: readonly (readonly [string | number, unknown])[]) => coseKey(point, new Map(changes));

describe("cose_to_raw_point", () => {
  it("returns the point of a key in a new array of 65 bytes", () => {
    const cose = key([]);
    expect(cose).toHaveLength(77);
    const converted = cose_to_raw_point(cose);
    expect(converted).toEqual(point);
    cose.fill(0);
    expect(converted).toEqual(point);
    expect(converted.buffer.byteLength).toBe(65);
  });

  it("reads a part of a larger Buffer, and a key with further members", () => {
    const larger = Buffer.concat([Buffer.of(0xff), key([]), Buffer.of(0xff)]);
    expect(cose_to_raw_point(larger.subarray(1, 78))).toEqual(point);
    const more = key([
      [2, Uint8Array.of(1, 2, 3)],
      [4, [2]],
      ["x", "y"],
    ]);
    expect(cose_to_raw_point(more)).toEqual(point);
  });

  it("reads a key with its members in another order", () => {
    const parts = new Map<number, number | Uint8Array>([
      [-3, Uint8Array.from(point.subarray(33))],
      [-2, Uint8Array.from(point.subarray(1, 33))],
      [-1, 1],
      [3, -7],
      [1, 2],
    ]);
    expect(cose_to_raw_point(encodeCBOR(parts))).toEqual(point);
  });

  it("accepts a key of 1,024 bytes, and no longer one", () => {
    const empty = key([["x", new Uint8Array(1000)]]).byteLength - 1000;
    const fill = (bytes: number) => key([["x", new Uint8Array(bytes - empty)]]);
    expect(fill(1024)).toHaveLength(1024);
    expect(cose_to_raw_point(fill(1023))).toEqual(point);
    expect(cose_to_raw_point(fill(1024))).toEqual(point);
    expect(() => cose_to_raw_point(fill(1025))).toThrow("it is not one CBOR map");
  });

  it.each([
    ["RSA", [[1, 3]], "type (kty)"],
    ["OKP", [[1, 1]], "type (kty)"],
    ["without a type", [[1, undefined]], "type (kty)"],
    ["with a string as its type", [[1, "EC2"]], "type (kty)"],
    ["of RS256", [[3, -257]], "algorithm (alg)"],
    ["of ES384", [[3, -35]], "algorithm (alg)"],
    ["without an algorithm", [[3, undefined]], "algorithm (alg)"],
    ["of P-384", [[-1, 2]], "curve (crv)"],
    ["of secp256k1", [[-1, 8]], "curve (crv)"],
    ["without a curve", [[-1, undefined]], "curve (crv)"],
    ["without x", [[-2, undefined]], "its x is not 32 bytes"],
    ["with an x that is too short", [[-2, new Uint8Array(31)]], "its x is not 32 bytes"],
    ["with an x that is too long", [[-2, new Uint8Array(33)]], "its x is not 32 bytes"],
    ["with a string as its x", [[-2, "x".repeat(32)]], "its x is not 32 bytes"],
    ["without y", [[-3, undefined]], "its y is not 32 bytes"],
    ["with only the sign of y (compressed)", [[-3, true]], "its y is not 32 bytes"],
    ["with an empty y", [[-3, new Uint8Array()]], "its y is not 32 bytes"],
    [
      "with x and y exchanged",
      [
        [-2, point.slice(33)],
        [-3, point.slice(1, 33)],
      ],
      "not on the curve",
    ],
    [
      "of zeros",
      [
        [-2, new Uint8Array(32)],
        [-3, new Uint8Array(32)],
      ],
      "not on the curve",
    ],
    [
      "of ones",
      [
        [-2, new Uint8Array(32).fill(255)],
        [-3, new Uint8Array(32).fill(255)],
      ],
      "not on the curve",
    ],
  ] as [string, [number, unknown][], string][])("refuses a key %s", (_what, changes, message) => {
    expect(() => cose_to_raw_point(key(changes))).toThrow(ValueError);
    expect(() => cose_to_raw_point(key(changes))).toThrow(message);
  });

  const validKey = Buffer.from(key([])).toString("hex");
  it.each([
    ["no bytes", ""],
    ["a point", Buffer.from(point).toString("hex")],
    ["an empty map", "a0"],
    ["an array", "80"],
    ["a string", "6161"],
    ["a number", "01"],
    ["a float", "fb3ff199999999999a"],
    ["a tag around a key", `c1${validKey}`],
    ["a key followed by another byte", `${validKey}00`],
    ["two keys", validKey + validKey],
    ["a key that is cut off", validKey.slice(0, -2)],
    ["a map of indefinite length", `bf${validKey.slice(2)}ff`],
    ["a map with too large a length", `a6${validKey.slice(2)}`],
    ["a map with too small a length", `a4${validKey.slice(2)}`],
    ["a key with a duplicate label", `a6${validKey.slice(2)}0102`],
    ["a map of 2^53 entries", "bb0020000000000000"],
    ["bytes of 2^64 - 1", `a5010203262001215bffffffffffffffff`],
    ["nested arrays", "81".repeat(1024)],
    ["nested tags", "c1".repeat(1024)],
    ["1 MB of nested arrays", "81".repeat(1_000_000)],
  ])("refuses %s", (_what, text) => {
    expect(() => cose_to_raw_point(hex(text))).toThrow(ValueError);
  });

  it("does not read beyond the end of its input", () => {
    // The rest of the key follows directly in memory.
    const memory = Buffer.from(key([]));
    for (let size = 0; size < memory.length; size++) {
      expect(() => cose_to_raw_point(memory.subarray(0, size)), `${size} bytes`).toThrow(ValueError);
    }
  });

  it("returns a point or throws a ValueError for any bytes", () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc.tuple(fc.nat(76), fc.nat(255)).map(([at, value]) => {
        const cose = key([]);
        cose[at] = value;
        return cose;
      }),
    );
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        try {
          expect(cose_to_raw_point(bytes)).toHaveLength(65);
        } catch (error) {
          if (!(error instanceof ValueError)) throw error;
        }
      }),
      { numRuns: 1000 },
    );
  });

  it.each([undefined, null, "", "pQECAyYgASFYIA", 42, true, [], [165], {}, new Map(), new ArrayBuffer(77)])(
    "throws a TypeError for %j",
    (value) => {
      expect(() => Reflect.apply(cose_to_raw_point, null, [value])).toThrow(TypeError);
    },
  );
});
