/**
 * All functions of tsweb/auth with invalid arguments: each call returns or throws what its documentation states.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { anyText } from "#test/any-text";
import * as auth from "../../src/auth/index.ts";
import { RPCError, ValueError } from "../../src/index.ts";
import { Passkey } from "./webauthn-passkey.ts";

const SECRET = new Uint8Array(32).fill(7);
const MIB = 1024 * 1024;
const passkey = new Passkey();

/** The valid arguments of a function, and the results and errors that it documents. */
interface Case {
  readonly args: readonly unknown[];
  /** Returns whether a result is of the documented kind. */
  readonly isResult: (value: unknown) => boolean;
  readonly throws: readonly (new (...args: never[]) => Error)[];
  /** The documented codes of its RPCErrors. */
  readonly codes?: readonly string[];
}

const isBoolean = (value: unknown) => typeof value === "boolean";
const isCode = (value: unknown) => /^[0-9]{6}$/.test(String(value));
const isString = (value: unknown) => typeof value === "string";

const CASES: Readonly<Record<string, Case>> = {
  cose_to_raw_point: {
    args: [passkey.cose()],
    isResult: (value) => value instanceof Uint8Array && value.byteLength === 65,
    throws: [TypeError, ValueError],
  },
  hash_password: {
    args: ["analytical engine"],
    isResult: isString,
    throws: [TypeError, RPCError],
    codes: ["validation_error"],
  },
  hash_token: { args: ["token"], isResult: isString, throws: [TypeError] },
  issue_magic_token: { args: [SECRET, "ada", { ttl: 60 }], isResult: isString, throws: [TypeError, RangeError] },
  oidc_userinfo: {
    args: ["https://example.com/userinfo", "token"],
    isResult: (value) => isString((value as { sub: unknown }).sub), // throws here if the result is not an object
    throws: [TypeError, ValueError],
  },
  totp: { args: [SECRET, { at: 59 }], isResult: isCode, throws: [TypeError, RangeError] },
  verify_magic_token: {
    args: [SECRET, auth.issue_magic_token(SECRET, "ada", { ttl: 60 })],
    isResult: (value) => value === null || value === "ada",
    throws: [TypeError, RangeError],
  },
  verify_password: { args: ["x", undefined], isResult: isBoolean, throws: [TypeError] },
  verify_totp: { args: [SECRET, "123456", { at: 59 }], isResult: isBoolean, throws: [TypeError, RangeError] },
  verify_webauthn_assertion: {
    args: [passkey.assertion()],
    isResult: (value) => typeof value === "object" && value !== null,
    throws: [TypeError, ValueError],
  },
};

const detached = new Uint8Array(8);
structuredClone(detached.buffer, { transfer: [detached.buffer] });

/** Objects that imitate other types, values that are too large, and typical attacks. */
const ADVERSARIAL: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 64, 10n ** 40n],
  ...["", " ", "\0", "\ud800", "null", "__proto__", "constructor", "../../etc/passwd", "' OR 1=1 --", "{{7*7}}", "%00"],
  ...["x".repeat(2 * MIB), "0".repeat(2 * MIB), "$".repeat(2 * MIB), ".".repeat(5000), "A".repeat(4096)],
  ...["pbkdf2_sha256$99999999$x$x", "eyJhbGciOiJub25lIn0.e30.", "http://169.254.169.254/", "javascript:alert(1)"],
  ...[new Uint8Array(), new Uint8Array(1), new Uint8Array(64), new Uint8Array(65).fill(4), new Uint8Array(2 * MIB)],
  ...[Buffer.from("\x81".repeat(5000), "latin1"), Buffer.from("[".repeat(60_000)), Buffer.from("\xff\xfe", "latin1")],
  ...[detached, new ArrayBuffer(65), new SharedArrayBuffer(65), new DataView(new ArrayBuffer(65)), new Uint16Array(40)],
  ...[
    new Uint8Array(new SharedArrayBuffer(65)),
    Object.create(Uint8Array.prototype),
    new Proxy(new Uint8Array(65), {}),
  ],
  ...[{}, [], [[]], { length: 65 }, { byteLength: 65 }, { toString: () => "123456" }, Object("123456"), Object(1)],
  ...[
    { toString: null, valueOf: null },
    Object.create(null),
    JSON.parse('{"__proto__":{"ttl":1}}'),
    new Map(),
    new Date(0),
  ],
  ...[
    Symbol("x"),
    () => "123456",
    class {},
    /x/,
    new Error("x"),
    Promise.resolve("123456"),
    new URL("https://example.com"),
  ],
];

const anything = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ADVERSARIAL) },
  {
    weight: 1,
    arbitrary: fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
    }),
  },
  { weight: 1, arbitrary: anyText({ maxLength: 300 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
);

/** Returns the valid arguments with some of them, or some fields of their options, replaced. */
function invalidArguments(args: readonly unknown[]): fc.Arbitrary<unknown[]> {
  const all = args.map((arg) => {
    const isOptions = typeof arg === "object" && arg !== null && Object.getPrototypeOf(arg) === Object.prototype;
    const fields = isOptions ? fc.constantFrom(...Object.keys(arg)) : fc.constant("none");
    const replaced = fc.tuple(fields, anything).map(([name, value]) => (isOptions ? { ...arg, [name]: value } : value));
    return fc.oneof(fc.constant(arg), replaced, anything);
  });
  return fc.oneof(fc.tuple(...all), fc.array(anything, { maxLength: args.length }));
}

async function outcomeOf(name: string, args: readonly unknown[]) {
  const call: unknown = Reflect.get(auth, name);
  if (typeof call !== "function") throw new Error(`${name} is not a function`);
  try {
    return { value: (await Reflect.apply(call, undefined, args)) as unknown };
  } catch (error) {
    return { error };
  }
}

beforeAll(() => {
  // The work of hashes is not what is tested here.
  const { pbkdf2 } = crypto;
  vi.spyOn(crypto, "pbkdf2").mockImplementation((password, salt, iterations, ...rest) =>
    pbkdf2(password, salt, Math.ceil(iterations / 1_000), ...rest),
  );
  syncBuiltinESMExports();
  // Some of the arguments are valid URLs. No request must be sent to them.
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ sub: "ada" }));
});
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe("tsweb/auth", () => {
  it("has a test case in this file for each exported function", () => {
    expect(Object.keys(CASES)).toEqual(Object.keys(auth).sort());
  });

  describe.each(Object.entries(CASES))("%s", (name, { args, isResult, throws, codes = [] }) => {
    it("returns a result for valid arguments", async () => {
      const { error, value } = await outcomeOf(name, args);
      expect(error).toBeUndefined();
      expect(isResult(value)).toBe(true);
    });

    it("returns or throws what is documented, with its own message, for any arguments [SIGNIN-15]", {
      timeout: 120_000,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(invalidArguments(args), async (badArgs) => {
          const { error, value } = await outcomeOf(name, badArgs);
          if (error === undefined) {
            expect(isResult(value)).toBe(true);
            return;
          }
          if (!(error instanceof Error) || !throws.some((kind) => error.constructor === kind)) throw error;
          if (error instanceof RPCError) expect(codes).toContain(error.code);
          // A message without the function's name would be an unintended TypeError of the engine.
          else if (!(error instanceof ValueError)) expect(error.message).toContain(`${name}: `);
          expect(error.message.length).toBeLessThan(300);
        }),
        { numRuns: 500 },
      );
    });

    it("returns a result for valid arguments also after calls with invalid arguments", async () => {
      expect(isResult((await outcomeOf(name, args)).value)).toBe(true);
    });
  });
});
