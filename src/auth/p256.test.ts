import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesToBigInt, ORDER, parseDerSignature, parseSignature } from "./p256.ts";

/** r and s of two signatures of RFC 6979, A.2.5: the highest bit of r is set, that of s is not. */
const R = 0xefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716n;
const S = 0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083n;

const hex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));
const toBytes = (value: bigint) => hex(value.toString(16).padStart(64, "0"));
const rawSignature = (r: bigint, s: bigint) => Buffer.concat([toBytes(r), toBytes(s)]);

describe("a raw signature", () => {
  it("is parsed if it has 64 bytes, and r and s are from 1 to the order of the curve minus 1", () => {
    const valid = [rawSignature(R, S), rawSignature(1n, ORDER - 1n)];
    expect(valid.map((signature) => parseSignature(signature))).toEqual(valid.map((signature) => [signature]));
    const invalid = [rawSignature(0n, S), rawSignature(R, 0n), rawSignature(ORDER, S), rawSignature(R, ORDER)];
    invalid.push(Buffer.alloc(64), rawSignature(R, S).subarray(1), Buffer.concat([rawSignature(R, S), Buffer.of(0)]));
    expect(invalid.map((signature) => parseSignature(signature))).toEqual(invalid.map(() => []));
  });

  it("that is one in DER too is parsed as both", () => {
    const numbers = `021d${"11".repeat(29)}021d${"22".repeat(29)}`;
    const signature = hex(`303e${numbers}`);
    const der = rawSignature(BigInt(`0x${"11".repeat(29)}`), BigInt(`0x${"22".repeat(29)}`));
    expect(parseSignature(signature).map((parsed) => Buffer.from(parsed))).toEqual([der, Buffer.from(signature)]);
  });
});

describe("a signature in DER", () => {
  const integer = (digits: string) => `02${(digits.length / 2).toString(16).padStart(2, "0")}${digits}`;
  const sequence = (body: string) => `30${(body.length / 2).toString(16).padStart(2, "0")}${body}`;
  const one = integer("01");
  const big = integer(`00${R.toString(16)}`);
  const small = integer(S.toString(16).padStart(64, "0"));

  it.each([
    ["a number with its highest bit set, and a zero before it", sequence(big + small), rawSignature(R, S)],
    ["the shortest signature", sequence(one + one), rawSignature(1n, 1n)],
    ["numbers of different lengths", sequence(integer("0080") + integer("7f")), rawSignature(0x80n, 0x7fn)],
    [
      "the longest signature",
      sequence(integer(`00${(ORDER - 1n).toString(16)}`).repeat(2)),
      rawSignature(ORDER - 1n, ORDER - 1n),
    ],
  ])("is parsed: %s", (_what, der, expected) => {
    expect(Buffer.from(parseDerSignature(hex(der)) ?? [])).toEqual(expected);
  });

  it.each([
    ["no bytes", ""],
    ["an empty sequence", "3000"],
    ["64 raw bytes, the format of WebCrypto", rawSignature(R, S).toString("hex")],
    ["64 bytes that start like a sequence", `303e${"01".repeat(62)}`],
    ["another tag", `31${sequence(big + small).slice(2)}`],
    ["another tag inside the sequence", sequence(`03${one.slice(2)}${one}`)],
    ["a length too small", `3005${one}${one}`],
    ["a length too large", `3007${one}${one}`],
    ["a length in two bytes that fits in one", `308106${one}${one}`],
    ["a length in three bytes", `30820006${one}${one}`],
    ["an indefinite length", `3080${one}${one}0000`],
    ["an integer with a length in two bytes", sequence(`028101${"01"}${one}`)],
    ["an integer that extends beyond the end", sequence(`${one}0202${"01"}`)],
    ["an empty integer", sequence(`0200${one}`)],
    ["a byte after the sequence", `${sequence(one + one)}00`],
    ["a byte after the integers", sequence(`${one}${one}00`)],
    ["a third integer", sequence(one + one + one)],
    ["only one integer", sequence(one)],
    ["a signature that is cut off", sequence(big + small).slice(0, -2)],
    ["r = 0", sequence(integer("00") + one)],
    ["s = 0", sequence(one + integer("00"))],
    ["a negative r", sequence(integer("ff") + one)],
    ["a negative s", sequence(one + integer(R.toString(16)))],
    ["a leading zero", sequence(integer("0001") + one)],
    ["two leading zeros", sequence(integer("000080") + one)],
    ["r equal to the order", sequence(integer(`00${ORDER.toString(16)}`) + one)],
    ["s equal to the order", sequence(one + integer(`00${ORDER.toString(16)}`))],
    ["r beyond 256 bits", sequence(integer(`01${"00".repeat(32)}`) + one)],
    ["r plus the order", sequence(integer((R + ORDER).toString(16).padStart(66, "0")) + one)],
    ["73 bytes", "30".padEnd(146, "0")],
    ["a megabyte", "30".padEnd(2_000_000, "0")],
  ])("is refused: %s", (_what, der) => {
    expect(parseDerSignature(hex(der))).toBeNull();
  });

  it("has one encoding: encoding the parsed numbers again returns the same bytes", () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc
        .tuple(fc.uint8Array({ maxLength: 34 }), fc.uint8Array({ maxLength: 34 }))
        .map(([a, b]) =>
          hex(sequence(integer(Buffer.from(a).toString("hex")) + integer(Buffer.from(b).toString("hex")))),
        ),
    );
    const encode = (number: Uint8Array) => {
      const digits = bytesToBigInt(number).toString(16);
      const even = digits.length % 2 === 0 ? digits : `0${digits}`;
      return integer(even >= "80" ? `00${even}` : even);
    };
    fc.assert(
      fc.property(anyBytes, (der) => {
        const parsed = parseDerSignature(der);
        if (parsed === null) return;
        expect(sequence(encode(parsed.subarray(0, 32)) + encode(parsed.subarray(32)))).toBe(
          Buffer.from(der).toString("hex"),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("with any one byte changed is refused or parsed to other numbers", () => {
    const der = hex(sequence(big + small));
    const original = Buffer.from(parseDerSignature(der) ?? []).toString("hex");
    for (let at = 0; at < der.length; at++) {
      for (let value = 0; value < 256; value++) {
        if (der[at] === value) continue;
        const changed = Uint8Array.from(der);
        changed[at] = value;
        const parsed = parseDerSignature(changed);
        if (parsed && Buffer.from(parsed).toString("hex") === original)
          expect.fail(`${value} at ${at} changed nothing`);
      }
    }
  });
});
