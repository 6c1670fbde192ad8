/**
 * Whether a secret is nearly right or all wrong, the same work is done: as many hashes and as many
 * comparisons, each over all bytes and by the call whose time does not depend on them. What is
 * counted here does not hang on the machine's speed, as measured times would.
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

/** What was asked of node:crypto, in order. */
const work = vi.hoisted((): string[] => []);

vi.mock("node:crypto", async (importOriginal) => {
  const crypto = await importOriginal<typeof import("node:crypto")>();
  const { createHmac, pbkdf2, timingSafeEqual } = crypto;
  return {
    ...crypto,
    createHmac: (...args: Parameters<typeof createHmac>) => {
      work.push(`hmac ${args[0]}`);
      return createHmac(...args);
    },
    pbkdf2: (...args: Parameters<typeof pbkdf2>) => {
      work.push(`pbkdf2 ${args[2]}`);
      return pbkdf2(...args);
    },
    timingSafeEqual: (a: Uint8Array, b: Uint8Array) => {
      work.push(`compare ${a.byteLength} and ${b.byteLength} bytes`);
      return timingSafeEqual(a, b);
    },
  };
});

const SECRET = Buffer.from("12345678901234567890");
const at = 1_111_111_111;

beforeEach(() => {
  work.splice(0);
});

/** Runs a piece of work; gives what was asked for it. */
async function workOf(run: () => unknown): Promise<string[]> {
  work.splice(0);
  await run();
  return work.splice(0);
}

/** Changes one character. */
function changed(text: string, place: number): string {
  const at = place < 0 ? text.length + place : place;
  return text.slice(0, at) + (text[at] === "1" ? "2" : "1") + text.slice(at + 1);
}

describe("the work for", () => {
  it("a one-time code is that of three steps, whichever is right, and from whichever digit on it is not", async () => {
    const right = totp(SECRET, { at });
    const codes = [
      right,
      totp(SECRET, { at: at - 30 }),
      totp(SECRET, { at: at + 30 }),
      changed(right, 0),
      changed(right, -1),
    ];
    const step = ["hmac sha1", "compare 6 and 6 bytes"];
    for (const code of codes) {
      expect(await workOf(() => verify_totp(SECRET, code, { at }))).toEqual([...step, ...step, ...step]);
    }
  });

  it("a magic token is one hash and one comparison, from whichever character on its signature is wrong", async () => {
    const token = issue_magic_token(SECRET, "ada", { ttl: 60 });
    const signature = token.indexOf(".") + 1;
    // The last character has bits that are not the signature's: the one before it is changed.
    for (const given of [token, changed(token, signature), changed(token, -2), changed(token, 0)]) {
      expect(await workOf(() => verify_magic_token(SECRET, given))).toEqual(["hmac sha256", "compare 32 and 32 bytes"]);
    }
  });

  it("a password is that of one derivation of today, known account or not, and one comparison", async () => {
    const stored = await hash_password("analytical engine");
    const hash = stored.lastIndexOf("$") + 1;
    const full = ["pbkdf2 600000", "compare 32 and 32 bytes"];
    for (const known of [stored, changed(stored, hash), changed(stored, -3), undefined, "", "no hash"]) {
      expect(await workOf(() => verify_password("analytical engine", known))).toEqual(full);
    }
    expect(await workOf(() => verify_password("difference engine", stored))).toEqual(full);
    const old = stored.replace("$600000$", "$1000$");
    expect(await workOf(() => verify_password("analytical engine", old))).toEqual([
      "pbkdf2 1000",
      "pbkdf2 599000",
      "compare 32 and 32 bytes",
    ]);
  });

  it("a passkey's challenge is one comparison over all of it", async () => {
    const assertion = new Passkey().assertion();
    const right = Buffer.from(assertion.expected_challenge).toString("base64url");
    for (const expected_challenge of [changed(right, 0), changed(right, -2)]) {
      const refused = () => {
        expect(() => verify_webauthn_assertion({ ...assertion, expected_challenge })).toThrow("another challenge");
      };
      expect(await workOf(refused)).toEqual(["compare 43 and 43 bytes"]);
    }
  });
});
