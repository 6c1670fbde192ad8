/**
 * Verification does the same work for a nearly right secret and a completely wrong one: the same number of hashes and
 * of comparisons, each over all bytes and in constant time. This prevents timing attacks. The tests count calls of
 * `node:crypto`, since measured times would depend on the speed of the machine.
 */
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  hash_password,
  issue_magic_token,
  totp,
  verify_magic_token,
  verify_password,
  verify_totp,
  verify_webauthn_assertion,
} from "../../src/auth/index.ts";
import { Passkey } from "./webauthn-passkey.ts";

/** The calls of node:crypto, in order. */
const calls = vi.hoisted((): string[] => []);

vi.mock("node:crypto", async (importOriginal) => {
  const crypto = await importOriginal<typeof import("node:crypto")>();
  const { createHmac, pbkdf2, timingSafeEqual } = crypto;
  return {
    ...crypto,
    createHmac: (...args: Parameters<typeof createHmac>) => {
      calls.push(`hmac ${args[0]}`);
      return createHmac(...args);
    },
    pbkdf2: (...args: Parameters<typeof pbkdf2>) => {
      calls.push(`pbkdf2 ${args[2]}`);
      return pbkdf2(...args);
    },
    timingSafeEqual: (a: Uint8Array, b: Uint8Array) => {
      calls.push(`compare ${a.byteLength} and ${b.byteLength} bytes`);
      return timingSafeEqual(a, b);
    },
  };
});

const SECRET = Buffer.from("12345678901234567890");
const at = 1_111_111_111;

beforeEach(() => {
  calls.splice(0);
});

/** Returns the calls of node:crypto that a function makes. */
async function cryptoCalls(run: () => unknown): Promise<string[]> {
  calls.splice(0);
  await run();
  return calls.splice(0);
}

/** Returns a text with one character changed. A negative index counts from the end. */
function withChange(text: string, index: number): string {
  const at = index < 0 ? text.length + index : index;
  return text.slice(0, at) + (text[at] === "1" ? "2" : "1") + text.slice(at + 1);
}

describe("the verification", () => {
  it("of a one-time code hashes and compares three time steps, regardless of which step or digit is right", async () => {
    const right = totp(SECRET, { at });
    const codes = [
      right,
      totp(SECRET, { at: at - 30 }),
      totp(SECRET, { at: at + 30 }),
      withChange(right, 0),
      withChange(right, -1),
    ];
    const step = ["hmac sha1", "compare 6 and 6 bytes"];
    for (const code of codes) {
      expect(await cryptoCalls(() => verify_totp(SECRET, code, { at }))).toEqual([...step, ...step, ...step]);
    }
  });

  it("of a magic token makes one hash and one comparison, regardless of which character is wrong", async () => {
    const token = issue_magic_token(SECRET, "ada", { ttl: 60 });
    const signature = token.indexOf(".") + 1;
    // The last character also has unused bits, so the one before it is changed.
    for (const received of [token, withChange(token, signature), withChange(token, -2), withChange(token, 0)]) {
      expect(await cryptoCalls(() => verify_magic_token(SECRET, received))).toEqual([
        "hmac sha256",
        "compare 32 and 32 bytes",
      ]);
    }
  });

  it("of a password makes one full derivation and one comparison, for known and unknown accounts", async () => {
    const stored = await hash_password("analytical engine");
    const hash = stored.lastIndexOf("$") + 1;
    const full = ["pbkdf2 600000", "compare 32 and 32 bytes"];
    for (const storedHash of [stored, withChange(stored, hash), withChange(stored, -3), undefined, "", "no hash"]) {
      expect(await cryptoCalls(() => verify_password("analytical engine", storedHash))).toEqual(full);
    }
    expect(await cryptoCalls(() => verify_password("difference engine", stored))).toEqual(full);
    const old = stored.replace("$600000$", "$1000$");
    expect(await cryptoCalls(() => verify_password("analytical engine", old))).toEqual([
      "pbkdf2 1000",
      "pbkdf2 599000",
      "compare 32 and 32 bytes",
    ]);
  });

  it("of a passkey's challenge makes one comparison of all bytes", async () => {
    const assertion = new Passkey().assertion();
    const right = Buffer.from(assertion.expected_challenge).toString("base64url");
    for (const expected_challenge of [withChange(right, 0), withChange(right, -2)]) {
      const verifyWrong = () => {
        expect(() => verify_webauthn_assertion({ ...assertion, expected_challenge })).toThrow("another challenge");
      };
      expect(await cryptoCalls(verifyWrong)).toEqual(["compare 43 and 43 bytes"]);
    }
  });
});
