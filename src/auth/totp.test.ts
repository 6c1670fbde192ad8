import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { totp, verify_totp } from "./totp.ts";

/** The secret of the test vectors in RFC 4226 and RFC 6238. */
const SECRET = Buffer.from("12345678901234567890");
const AT = 1_800_000_000;

afterEach(() => {
  vi.useRealTimers();
});

describe("totp", () => {
  it.each([
    // RFC 6238, appendix B: the last six of the eight digits
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ])("at %i returns %s", (at, code) => {
    expect(totp(SECRET, { at })).toBe(code);
  });

  it("equals HOTP with the number of the step as its counter", () => {
    // RFC 4226, appendix D
    const codes = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
    expect(codes.map((_, step) => totp(SECRET, { at: step * 30 }))).toEqual(codes);
  });

  it("changes every 30 seconds, at the start of a step", () => {
    expect(totp(SECRET, { at: AT + 29.999 })).toBe(totp(SECRET, { at: AT }));
    expect(totp(SECRET, { at: AT + 30 })).not.toBe(totp(SECRET, { at: AT }));
  });

  it("returns the current code without the option at", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: AT * 1000 });
    expect(totp(SECRET)).toBe(totp(SECRET, { at: AT }));
    expect(totp(SECRET, {})).toBe(totp(SECRET, { at: AT }));
    expect(verify_totp(SECRET, totp(SECRET))).toBe(true);
  });

  it("reads only the bytes of a view into a larger buffer", () => {
    const larger = Buffer.concat([Buffer.from("x"), SECRET, Buffer.from("x")]);
    expect(totp(new Uint8Array(larger).subarray(1, 21), { at: AT })).toBe(totp(SECRET, { at: AT }));
  });

  it("returns six digits for any secret and time", () => {
    const time = fc.double({ min: 0, max: Number.MAX_SAFE_INTEGER, noNaN: true });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), time, (secret, at) => {
        expect(totp(secret, { at })).toMatch(/^[0-9]{6}$/);
      }),
    );
  });

  it.each([undefined, null, "", "12345678901234567890", "GEZDGNBVGY3TQOJQ", 42, [49, 50], {}, new ArrayBuffer(20)])(
    "throws a TypeError for the secret %j",
    (secret) => {
      expect(() => Reflect.apply(totp, null, [secret])).toThrow(TypeError);
      expect(() => Reflect.apply(verify_totp, null, [secret, "123456"])).toThrow(TypeError);
    },
  );

  it("throws a TypeError for an empty secret, whose codes everybody could compute", () => {
    expect(() => totp(new Uint8Array(0))).toThrow("the secret is empty");
    expect(() => verify_totp(new Uint8Array(0), "328482")).toThrow("the secret is empty");
  });

  it.each([
    -1,
    -0.001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 53,
    "59",
    null,
    new Date(),
    59n,
  ])("throws a RangeError for the time %s", (at) => {
    expect(() => Reflect.apply(totp, null, [SECRET, { at }])).toThrow(RangeError);
    expect(() => Reflect.apply(verify_totp, null, [SECRET, "123456", { at }])).toThrow(RangeError);
  });
});

describe("verify_totp", () => {
  const at = AT + 12;

  it.each([
    [-3, false],
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
    [3, false],
  ])("for the code %i steps away returns %s [SIGNIN-10]", (steps, expected) => {
    expect(verify_totp(SECRET, totp(SECRET, { at: at + steps * 30 }), { at })).toBe(expected);
  });

  it("accepts a code from the step before its own to the end of the step after it", () => {
    const code = totp(SECRET, { at: AT });
    expect(verify_totp(SECRET, code, { at: AT - 30.001 })).toBe(false);
    expect(verify_totp(SECRET, code, { at: AT - 30 })).toBe(true);
    expect(verify_totp(SECRET, code, { at: AT + 59.999 })).toBe(true);
    expect(verify_totp(SECRET, code, { at: AT + 60 })).toBe(false);
  });

  it("accepts codes in the first step, which has none before it", () => {
    expect(verify_totp(SECRET, "755224", { at: 0 })).toBe(true);
    expect(verify_totp(SECRET, "287082", { at: 0 })).toBe(true);
    expect(verify_totp(SECRET, "359152", { at: 0 })).toBe(false);
  });

  it("accepts only the codes of the current, previous and next step [SIGNIN-9]", () => {
    const valid = [at - 30, at, at + 30].map((time) => totp(SECRET, { at: time }));
    const samples = Array.from({ length: 5000 }, (_, i) => String(i * 200).padStart(6, "0"));
    const accepted = [...valid, ...samples].filter((code) => verify_totp(SECRET, code, { at }));
    expect([...new Set(accepted)].sort()).toEqual([...new Set(valid)].sort());
  });

  it("returns false for another secret", () => {
    expect(verify_totp(Buffer.from("12345678901234567891"), totp(SECRET, { at }), { at })).toBe(false);
  });

  it("returns false for the right code in any other spelling", () => {
    const code = "005924";
    const options = { at: 1_234_567_890 };
    expect(verify_totp(SECRET, code, options)).toBe(true);
    const fullWidth = code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    const spellings: unknown[] = [
      " 005924",
      "005924 ",
      "005 924",
      "005924\n",
      "5924",
      "0005924",
      "005924.0",
      "+05924",
      fullWidth,
    ];
    spellings.push(
      5924,
      5924n,
      ["005924"],
      ["0", "0", "5", "9", "2", "4"],
      { length: 6 },
      Object(code),
      Buffer.from(code),
    );
    for (const spelling of spellings) expect(Reflect.apply(verify_totp, null, [SECRET, spelling, options])).toBe(false);
  });

  it.each([undefined, null, "", "abcdef", "12345", "1234567", "-12345", "1e5000", "١٢٣٤٥٦", "0".repeat(1_000_000)])(
    "returns false for %j",
    (code) => {
      expect(Reflect.apply(verify_totp, null, [SECRET, code, { at }])).toBe(false);
    },
  );

  it("returns false for any value that is not a code, and never throws", () => {
    fc.assert(
      fc.property(fc.anything(), (code) => {
        fc.pre(!(typeof code === "string" && /^\d{6}$/.test(code)));
        expect(Reflect.apply(verify_totp, null, [SECRET, code, { at }])).toBe(false);
      }),
    );
  });
});
