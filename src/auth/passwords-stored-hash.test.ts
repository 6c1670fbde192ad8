import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatStoredHash, MAX_ITERATIONS, parseStoredHash } from "./passwords.ts";

const HASH = "F2B+xpt0/2uKgMNvG2eRGKBu1Saa85Pht1l/oJA8Ybk=";
const BYTES = Buffer.from(HASH, "base64");
const VALID = `pbkdf2_sha256$1000$salt$${HASH}`;

describe("a stored hash", () => {
  it("is written in the format of Django", () => {
    expect(formatStoredHash({ iterations: 1000, salt: "salt", hash: BYTES })).toBe(VALID);
  });

  it("is parsed into its parts", () => {
    expect(parseStoredHash(VALID)).toEqual({ iterations: 1000, salt: "salt", hash: BYTES });
  });

  it.each([
    ["1", 1],
    ["260000", 260_000],
    ["600000", 600_000],
    ["9999999", 9_999_999],
    [String(MAX_ITERATIONS), 10_000_000],
  ])("can have %s iterations", (text, iterations) => {
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
  ])("is malformed with %j iterations", (text) => {
    expect(parseStoredHash(`pbkdf2_sha256$${text}$salt$${HASH}`)).toBeNull();
  });

  it.each(["a", "seasalt", "Zq3vR8tLxW2nYk6PbJ0cMa", "with space", "+/=", "é✓", "x".repeat(200)])(
    "can have the salt %j, which is not decoded",
    (salt) => {
      expect(parseStoredHash(`pbkdf2_sha256$1$${salt}$${HASH}`)?.salt).toBe(salt);
    },
  );

  it("has at most 512 characters, so that its salt is bounded too", () => {
    const ofLength = (length: number) => VALID.replace("salt", "x".repeat(length - VALID.length + "salt".length));
    expect(ofLength(512)).toHaveLength(512);
    expect(parseStoredHash(ofLength(512))?.iterations).toBe(1000);
    expect(parseStoredHash(ofLength(513))).toBeNull();
  });

  it.each([
    ["empty", ""],
    ["of another scheme", VALID.replace("sha256", "sha1")],
    ["of the scheme in upper case", VALID.replace("pbkdf2", "PBKDF2")],
    ["of argon2", "argon2$argon2id$v=19$m=102400,t=2,p=8$c2FsdA$aGFzaA"],
    ["of bcrypt", "$2b$12$abcdefghijklmnopqrstuuVvVvVvVvVvVvVvVvVvVvVvVvVvVvVv"],
    ["Django's unusable password", "!qCSW1cJPbPDyCvyPUjyNHgP36dBxBbAIiKIxbWAG"],
    ["a plain password", "correct horse battery staple"],
    ["without salt", `pbkdf2_sha256$1000$$${HASH}`],
    ["without hash", "pbkdf2_sha256$1000$salt$"],
    ["of three parts", "pbkdf2_sha256$1000$salt"],
    ["of five parts", `${VALID}$`],
    ["with the separator in the salt", `pbkdf2_sha256$1000$a$b$${HASH}`],
    ["with whitespace before", ` ${VALID}`],
    ["with whitespace after", `${VALID}\n`],
    ["with a hash without padding", VALID.slice(0, -1)],
    ["with a hash in base64url", VALID.replace("+", "-").replaceAll("/", "_")],
    ["with a hash with an unused bit set", VALID.replace("bk=", "bl=")],
    ["with a hash in hexadecimal", `pbkdf2_sha256$1000$salt$${BYTES.toString("hex")}`],
    ["with a hash one byte too short", `pbkdf2_sha256$1000$salt$${BYTES.subarray(1).toString("base64")}`],
    [
      "with a hash one byte too long",
      `pbkdf2_sha256$1000$salt$${Buffer.concat([BYTES, Buffer.of(0)]).toString("base64")}`,
    ],
    ["with a salt of 1 MB", `pbkdf2_sha256$1000$${"x".repeat(1_000_000)}$${HASH}`],
  ])("is malformed: %s", (_what, stored) => {
    expect(parseStoredHash(stored)).toBeNull();
  });

  it.each([undefined, null, 0, true, {}, [], [VALID], Buffer.from(VALID), Object(VALID), () => VALID, Symbol(VALID)])(
    "is malformed if it is not a string: %s",
    (stored) => {
      expect(parseStoredHash(stored)).toBeNull();
    },
  );

  it("is parsed to the values that it was formatted from", () => {
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

  it("is malformed, or formatted again to the same text, for any value", () => {
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
