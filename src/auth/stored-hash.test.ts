import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatStoredHash, MAX_ITERATIONS, parseStoredHash } from "./stored-hash.ts";

const HASH = "F2B+xpt0/2uKgMNvG2eRGKBu1Saa85Pht1l/oJA8Ybk=";
const BYTES = Buffer.from(HASH, "base64");
const GOOD = `pbkdf2_sha256$1000$salt$${HASH}`;

describe("a stored hash", () => {
  it("is written as Django writes it", () => {
    expect(formatStoredHash({ iterations: 1000, salt: "salt", hash: BYTES })).toBe(GOOD);
  });

  it("is taken apart", () => {
    expect(parseStoredHash(GOOD)).toEqual({ iterations: 1000, salt: "salt", hash: BYTES });
  });

  it.each([
    ["1", 1],
    ["260000", 260_000],
    ["600000", 600_000],
    ["9999999", 9_999_999],
    [String(MAX_ITERATIONS), 10_000_000],
  ])("may have %s iterations", (text, iterations) => {
    expect(parseStoredHash(`pbkdf2_sha256$${text}$salt$${HASH}`)?.iterations).toBe(iterations);
  });

  it.each([
    "0",
    "-1",
    "+1",
    "01",
    "1e3",
    "1.0",
    "0x10",
    " 1",
    "1 ",
    "",
    "x",
    "१",
    "10000001",
    "99999999",
    "4294967296",
    "9".repeat(300),
  ])("does not have %j iterations", (text) => {
    expect(parseStoredHash(`pbkdf2_sha256$${text}$salt$${HASH}`)).toBeNull();
  });

  it.each(["a", "seasalt", "Zq3vR8tLxW2nYk6PbJ0cMa", "with space", "+/=", "é✓", "x".repeat(200)])(
    "may have the salt %j, as it is written",
    (salt) => {
      expect(parseStoredHash(`pbkdf2_sha256$1$${salt}$${HASH}`)?.salt).toBe(salt);
    },
  );

  it.each([
    ["nothing", ""],
    ["another scheme", GOOD.replace("sha256", "sha1")],
    ["another scheme's letters", GOOD.replace("pbkdf2", "PBKDF2")],
    ["argon2", "argon2$argon2id$v=19$m=102400,t=2,p=8$c2FsdA$aGFzaA"],
    ["bcrypt", "$2b$12$abcdefghijklmnopqrstuuVvVvVvVvVvVvVvVvVvVvVvVvVvVvVv"],
    ["Django's unusable password", "!qCSW1cJPbPDyCvyPUjyNHgP36dBxBbAIiKIxbWAG"],
    ["a plain password", "correct horse battery staple"],
    ["no salt", `pbkdf2_sha256$1000$$${HASH}`],
    ["no hash", "pbkdf2_sha256$1000$salt$"],
    ["three parts", "pbkdf2_sha256$1000$salt"],
    ["five parts", `${GOOD}$`],
    ["a salt with the sign between parts", `pbkdf2_sha256$1000$a$b$${HASH}`],
    ["white space before", ` ${GOOD}`],
    ["white space after", `${GOOD}\n`],
    ["a hash without its padding", GOOD.slice(0, -1)],
    ["a hash in the URL's alphabet", GOOD.replace("+", "-").replaceAll("/", "_")],
    ["a hash with a trailing bit set", GOOD.replace("bk=", "bl=")],
    ["a hash in hexadecimal", `pbkdf2_sha256$1000$salt$${BYTES.toString("hex")}`],
    ["a hash a byte short", `pbkdf2_sha256$1000$salt$${BYTES.subarray(1).toString("base64")}`],
    ["a hash a byte long", `pbkdf2_sha256$1000$salt$${Buffer.concat([BYTES, Buffer.of(0)]).toString("base64")}`],
    ["a megabyte of salt", `pbkdf2_sha256$1000$${"x".repeat(1_000_000)}$${HASH}`],
  ])("is not %s", (_what, stored) => {
    expect(parseStoredHash(stored)).toBeNull();
  });

  it.each([undefined, null, 0, true, {}, [], [GOOD], Buffer.from(GOOD), Object(GOOD), () => GOOD, Symbol(GOOD)])(
    "is no value of another type: %s",
    (stored) => {
      expect(parseStoredHash(stored)).toBeNull();
    },
  );

  it("comes back as it was written", () => {
    const salt = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((text) => !text.includes("$"));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: MAX_ITERATIONS }),
        salt,
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (iterations, text, bytes) => {
          const stored = { iterations, salt: text, hash: Buffer.from(bytes) };
          expect(parseStoredHash(formatStoredHash(stored))).toEqual(stored);
        },
      ),
    );
  });

  it("of any text is nothing, or that text's own", () => {
    const part = fc.oneof(fc.string(), fc.constantFrom("pbkdf2_sha256", "1000", "salt", HASH));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(part).map((parts) => parts.join("$")),
          fc.anything(),
        ),
        (stored) => {
          const parsed = parseStoredHash(stored);
          expect(parsed === null || formatStoredHash(parsed) === stored).toBe(true);
        },
      ),
    );
  });
});
