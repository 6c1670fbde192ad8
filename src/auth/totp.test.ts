import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { totp, verify_totp } from "./totp.ts";

/** The secret of the RFCs' own examples. */
const SECRET = Buffer.from("12345678901234567890");
const AT = 1_800_000_000;

afterEach(() => {
  vi.useRealTimers();
});

describe("totp", () => {
  it.each([
    // RFC 6238, appendix B, the last six of its eight digits
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ])("at %i is %s", (at, code) => {
    expect(totp(SECRET, { at })).toBe(code);
  });

  it("counts as HOTP does from the first step", () => {
    // RFC 4226, appendix D
    const codes = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
    expect(codes.map((_, step) => totp(SECRET, { at: step * 30 }))).toEqual(codes);
  });

  it("changes every 30 seconds, at the step's first moment", () => {
    expect(totp(SECRET, { at: AT + 29.999 })).toBe(totp(SECRET, { at: AT }));
    expect(totp(SECRET, { at: AT + 30 })).not.toBe(totp(SECRET, { at: AT }));
  });

  it("is that of now when no moment is given", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: AT * 1000 });
    expect(totp(SECRET)).toBe(totp(SECRET, { at: AT }));
    expect(totp(SECRET, {})).toBe(totp(SECRET, { at: AT }));
    expect(verify_totp(SECRET, totp(SECRET))).toBe(true);
  });

  it("reads a part of a larger buffer, and that part alone", () => {
    const larger = Buffer.concat([Buffer.from("x"), SECRET, Buffer.from("x")]);
    expect(totp(new Uint8Array(larger).subarray(1, 21), { at: AT })).toBe(totp(SECRET, { at: AT }));
  });

  it("is six digits, whatever the secret and the moment", () => {
    const moment = fc.double({ min: 0, max: Number.MAX_SAFE_INTEGER, noNaN: true });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), moment, (secret, at) => {
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

  it("throws a TypeError for no secret at all: everybody would know its codes", () => {
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
  ])("throws a RangeError for the moment %s", (at) => {
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
  ])("of the code %i steps away: %s", (steps, right) => {
    expect(verify_totp(SECRET, totp(SECRET, { at: at + steps * 30 }), { at })).toBe(right);
  });

  it("holds from the step before its own to the last moment of the step after it", () => {
    const code = totp(SECRET, { at: AT });
    expect(verify_totp(SECRET, code, { at: AT - 30.001 })).toBe(false);
    expect(verify_totp(SECRET, code, { at: AT - 30 })).toBe(true);
    expect(verify_totp(SECRET, code, { at: AT + 59.999 })).toBe(true);
    expect(verify_totp(SECRET, code, { at: AT + 60 })).toBe(false);
  });

  it("works in the very first step, which has none before it", () => {
    expect(verify_totp(SECRET, "755224", { at: 0 })).toBe(true);
    expect(verify_totp(SECRET, "287082", { at: 0 })).toBe(true);
    expect(verify_totp(SECRET, "359152", { at: 0 })).toBe(false);
  });

  it("takes exactly the codes of three steps, of all there are", () => {
    const right = [at - 30, at, at + 30].map((moment) => totp(SECRET, { at: moment }));
    const near = Array.from({ length: 5000 }, (_, i) => String(i * 200).padStart(6, "0"));
    const taken = [...right, ...near].filter((code) => verify_totp(SECRET, code, { at }));
    expect([...new Set(taken)].sort()).toEqual([...new Set(right)].sort());
  });

  it("is false with another secret", () => {
    expect(verify_totp(Buffer.from("12345678901234567891"), totp(SECRET, { at }), { at })).toBe(false);
  });

  it("is false for the right code written in any other way", () => {
    const code = "005924";
    const moment = { at: 1_234_567_890 };
    expect(verify_totp(SECRET, code, moment)).toBe(true);
    const wide = code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    const others: unknown[] = [
      " 005924",
      "005924 ",
      "005 924",
      "005924\n",
      "5924",
      "0005924",
      "005924.0",
      "+05924",
      wide,
    ];
    others.push(
      5924,
      5924n,
      ["005924"],
      ["0", "0", "5", "9", "2", "4"],
      { length: 6 },
      Object(code),
      Buffer.from(code),
    );
    for (const other of others) expect(Reflect.apply(verify_totp, null, [SECRET, other, moment])).toBe(false);
  });

  it.each([undefined, null, "", "abcdef", "12345", "1234567", "-12345", "1e5000", "١٢٣٤٥٦", "0".repeat(1_000_000)])(
    "is false for %j",
    (code) => {
      expect(Reflect.apply(verify_totp, null, [SECRET, code, { at }])).toBe(false);
    },
  );

  it("is false for anything that is not a code, and never throws for it", () => {
    fc.assert(
      fc.property(fc.anything(), (code) => {
        fc.pre(!(typeof code === "string" && /^\d{6}$/.test(code)));
        expect(Reflect.apply(verify_totp, null, [SECRET, code, { at }])).toBe(false);
      }),
    );
  });
});
