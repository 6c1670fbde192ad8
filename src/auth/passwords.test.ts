import { pbkdf2Sync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RPCError } from "../errors.ts";
import { createPasswords, type Derive, derivePbkdf2, hash_password, ITERATIONS, verify_password } from "./passwords.ts";

const PASSWORD = "correct horse battery staple";

/** What Django 5.2 itself gives. */
const DJANGO_5 = "pbkdf2_sha256$1000000$0PeDpDrl62ceQWfdlKfmX4$qkqSd17xKbBSAZ7pibDG3/pcNbnvCw9IB53eCIYuoyM=";

/** What Python's hashlib.pbkdf2_hmac gives, written as Django writes it. */
const DJANGO = "pbkdf2_sha256$600000$Zq3vR8tLxW2nYk6PbJ0cMa$f6036IQp90mc7h58WThf0GIQzGGRQm4H/vgXZKGKbM4=";
const DJANGO_OLD = "pbkdf2_sha256$1000$Zq3vR8tLxW2nYk6PbJ0cMa$F2B+xpt0/2uKgMNvG2eRGKBu1Saa85Pht1l/oJA8Ybk=";
const DJANGO_UNICODE = "pbkdf2_sha256$260000$seasalt2$L7j4naZ0YJHGrt00oM5kWqXEUlquA9fU9MuiWn/DLwM=";

/**
 * The real calls over a derivation that is counted, and that does a thousandth of the work: a hash
 * for each thousand iterations, all of which a test can afford by the hundred.
 */
function counted() {
  const iterations: number[] = [];
  const derive: Derive = async (password, salt, count) => {
    iterations.push(count);
    return pbkdf2Sync(password, salt, Math.ceil(count / 1000), 32, "sha256");
  };
  const spent = () => iterations.splice(0).reduce((sum, count) => sum + count, 0);
  return { ...createPasswords(derive), spent };
}

/** A stored hash of this many iterations, as {@link counted} makes it. */
function cheap(password: string, iterations: number): string {
  const hash = pbkdf2Sync(password, "salt", Math.ceil(iterations / 1000), 32, "sha256").toString("base64");
  return `pbkdf2_sha256$${iterations}$salt$${hash}`;
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe("derivePbkdf2", () => {
  it.each([
    // RFC 7914, section 11
    ["passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"],
    ["Password", "NaCl", 80_000, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"],
  ])("is PBKDF2-HMAC-SHA256: %s, %s, %i", async (password, salt, iterations, hex) => {
    expect((await derivePbkdf2(password, salt, iterations)).toString("hex")).toBe(hex);
  });
});

describe("hash_password", () => {
  it("gives 600,000 iterations of PBKDF2-HMAC-SHA256 over a salt of 16 bytes, as Django writes them", async () => {
    const stored = await hash_password(PASSWORD);
    expect(stored).toMatch(/^pbkdf2_sha256\$600000\$[0-9a-f]{32}\$[A-Za-z0-9+/]{43}=$/);
    expect(stored).toHaveLength(98);
    const [, , salt = "", hash] = stored.split("$");
    expect(pbkdf2Sync(PASSWORD, salt, 600_000, 32, "sha256").toString("base64")).toBe(hash);
  });

  it("gives another salt each time, and so another hash", async () => {
    const { hash_password } = counted();
    const stored = await Promise.all(Array.from({ length: 30 }, () => hash_password(PASSWORD)));
    expect(new Set(stored.map((text) => text.split("$")[2])).size).toBe(30);
    expect(new Set(stored.map((text) => text.split("$")[3])).size).toBe(30);
  });

  it("runs off the main thread: the event loop turns meanwhile", async () => {
    let turns = 0;
    let done = false;
    const hashing = hash_password(PASSWORD).then(() => {
      done = true;
    });
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    await hashing;
    expect(turns).toBeGreaterThan(10);
  });

  it.each([undefined, null, 0, 12345678, true, {}, [], ["password"], Symbol("x"), () => "x", Buffer.from("password")])(
    "throws a TypeError for %s",
    async (password) => {
      const { hash_password, spent } = counted();
      const error = await errorOf(Reflect.apply(hash_password, null, [password]));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain("hash_password: the password must be a string");
      expect(spent()).toBe(0);
    },
  );

  it.each([
    ["an empty one", "", "cannot be empty"],
    ["4,097 bytes", "x".repeat(4097), "at most 4096 bytes"],
    ["4,097 bytes in fewer characters", `${"é".repeat(2048)}x`, "at most 4096 bytes"],
    ["a megabyte", "x".repeat(1_000_000), "at most 4096 bytes"],
    ["half a surrogate pair", "password\ud800", "valid Unicode"],
    ["a NUL, which HMAC would not see at the end", "password\0", "NUL"],
  ])("is validation_error for %s, before any work", async (_what, password, why) => {
    const { hash_password, spent } = counted();
    const error = await errorOf(hash_password(password));
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "validation_error", message: expect.stringContaining(why) });
    expect(spent()).toBe(0);
  });

  it.each([
    ["one character", "x"],
    ["blanks", "   "],
    ["4,096 bytes", "é".repeat(2048)],
  ])("takes %s", async (_what, password) => {
    const { hash_password, verify_password } = counted();
    expect(await verify_password(password, await hash_password(password))).toBe(true);
  });
});

describe("verify_password", () => {
  it("knows what hash_password gave", async () => {
    const stored = await hash_password(PASSWORD);
    expect(await verify_password(PASSWORD, stored)).toBe(true);
    expect(await verify_password(`${PASSWORD} `, stored)).toBe(false);
  });

  it.each([
    ["of Django's own making", "pässwörd ✓", DJANGO_5],
    ["of as many iterations as ours", PASSWORD, DJANGO],
    ["of fewer iterations", PASSWORD, DJANGO_OLD],
    ["of a password in many scripts", "pässwörd ✓ 密码 🔑", DJANGO_UNICODE],
  ])("knows Django's hash %s", async (_what, password, stored) => {
    expect(await verify_password(password, stored)).toBe(true);
    expect(await verify_password(`${password}x`, stored)).toBe(false);
  });

  it("tells every other password from the right one", async () => {
    const { hash_password, verify_password } = counted();
    const stored = await hash_password(PASSWORD);
    const others = [
      PASSWORD.toUpperCase(),
      PASSWORD.slice(0, -1),
      PASSWORD.slice(1),
      `${PASSWORD}\0`,
      ` ${PASSWORD}`,
      PASSWORD.repeat(2),
      "",
      "\0",
      stored,
    ];
    for (const other of others) expect(await verify_password(other, stored)).toBe(false);
    expect(await verify_password(PASSWORD, stored)).toBe(true);
  });

  it("takes the text as it came: two ways to write one letter are two passwords", async () => {
    const { hash_password, verify_password } = counted();
    const stored = await hash_password("é");
    expect(await verify_password("e\u0301", stored)).toBe(false);
    expect(await verify_password("é", stored)).toBe(true);
  });

  it("knows any password again, and no other", async () => {
    const { hash_password, verify_password } = counted();
    const password = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 50 })
      .filter((text) => !text.includes("\0"));
    await fc.assert(
      fc.asyncProperty(password, password, async (one, other) => {
        const stored = await hash_password(one);
        expect(await verify_password(one, stored)).toBe(true);
        expect(await verify_password(other, stored)).toBe(one === other);
      }),
      { numRuns: 30 },
    );
  });

  it("is false for a hash changed at any one character", async () => {
    const { verify_password } = counted();
    const stored = cheap(PASSWORD, 1000);
    for (let at = 0; at < stored.length; at++) {
      for (const character of ["A", "z", "1", "$", "+", "="]) {
        if (stored[at] === character) continue;
        const changed = stored.slice(0, at) + character + stored.slice(at + 1);
        // The count of iterations is rounded up here, and so are a few of its digits.
        if (at >= "pbkdf2_sha256$".length && at < "pbkdf2_sha256$1000".length) continue;
        if (await verify_password(PASSWORD, changed)) expect.fail(`${character} at ${at} was taken`);
      }
    }
  });

  const malformed = [
    ["absent", undefined],
    ["null", null],
    ["empty", ""],
    ["a plain password", PASSWORD],
    ["cut short", DJANGO.slice(0, -1)],
    ["of another scheme", DJANGO.replace("sha256", "sha1")],
    ["without iterations", DJANGO.replace("600000", "0")],
    ["with more iterations than are run", DJANGO.replace("600000", "10000001")],
    ["with iterations that would never end", DJANGO.replace("600000", "9".repeat(100))],
    ["a megabyte long", DJANGO + "x".repeat(1_000_000)],
    ["a number", 42],
    ["an object", { hash: DJANGO }],
    ["a list of it", [DJANGO]],
  ] as const;

  it.each(malformed)("is false at full cost for a stored hash that is %s", async (_what, stored) => {
    const { verify_password, spent } = counted();
    expect(await Reflect.apply(verify_password, null, [PASSWORD, stored])).toBe(false);
    expect(spent()).toBe(ITERATIONS);
  });

  it("is never true for what stands in for an unknown account", async () => {
    for (const password of ["", "0", "\0", "0".repeat(32)]) {
      expect(await counted().verify_password(password, undefined)).toBe(false);
    }
    const nothing: Derive = async () => Buffer.alloc(32);
    expect(await createPasswords(nothing).verify_password(PASSWORD, undefined)).toBe(false);
  });

  it.each([1, 1000, 260_000, 599_999, 600_000])(
    "costs the same for a hash of %i iterations, right or wrong",
    async (n) => {
      const { verify_password, spent } = counted();
      const stored = cheap(PASSWORD, n);
      expect(await verify_password(PASSWORD, stored)).toBe(true);
      expect(spent()).toBe(ITERATIONS);
      expect(await verify_password("wrong", stored)).toBe(false);
      expect(spent()).toBe(ITERATIONS);
    },
  );

  it.each([600_001, 1_000_000, 10_000_000])("runs %i iterations when the hash has as many", async (n) => {
    const { verify_password, spent } = counted();
    expect(await verify_password(PASSWORD, cheap(PASSWORD, n))).toBe(true);
    expect(spent()).toBe(n);
  });

  it.each([
    ["an empty one", ""],
    ["one too long", "x".repeat(4097)],
    ["half a surrogate pair", "a\ud800"],
    ["one with a NUL", "a\0"],
  ])("is false at full cost for %s, which no hash was ever made of", async (_what, password) => {
    const { verify_password, spent } = counted();
    for (const stored of [cheap(password, 1000), cheap("", 600_000), undefined]) {
      expect(await verify_password(password, stored)).toBe(false);
      expect(spent()).toBe(ITERATIONS);
    }
  });

  it.each([undefined, null, 0, true, {}, ["password"], Symbol("x")])(
    "throws a TypeError for the password %s, whether the account is known or not",
    async (password) => {
      const { verify_password, spent } = counted();
      for (const stored of [DJANGO, undefined, "malformed"]) {
        const error = await errorOf(Reflect.apply(verify_password, null, [password, stored]));
        expect(error).toBeInstanceOf(TypeError);
        expect(String(error)).not.toContain(DJANGO);
      }
      expect(spent()).toBe(0);
    },
  );

  it("of anything at all is false or a TypeError", async () => {
    const { verify_password } = counted();
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.anything(), async (password, stored) => {
        try {
          expect(await Reflect.apply(verify_password, null, [password, stored])).toBe(false);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }),
    );
  });
});

describe("hashing under load", () => {
  /** The calls over a derivation that ends when it is told to. */
  function held() {
    const waiting: (() => void)[] = [];
    let started = 0;
    const passwords = createPasswords(async () => {
      started++;
      await new Promise<void>((resolve) => waiting.push(resolve));
      return Buffer.alloc(32);
    });
    const finish = () => {
      for (const end of waiting.splice(0)) end();
    };
    return { ...passwords, finish, started: () => started };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it("runs two at once, lets 32 wait, and refuses the rest, of either kind", async () => {
    const { hash_password, verify_password, finish, started } = held();
    const taken = Array.from({ length: 34 }, (_, i) =>
      i % 2 === 0 ? hash_password(PASSWORD) : verify_password(PASSWORD, undefined),
    );
    await turn();
    expect(started()).toBe(2);
    for (const work of [hash_password(PASSWORD), verify_password(PASSWORD, DJANGO), verify_password(PASSWORD, null)]) {
      expect(await errorOf(work)).toMatchObject({ code: "rate_limited" });
    }
    for (let done = 0; done < 34; done += 2) {
      expect(started()).toBe(done + 2);
      finish();
      await turn();
    }
    expect(await Promise.all(taken)).toHaveLength(34);
    const after = hash_password(PASSWORD);
    await turn();
    finish();
    expect(await after).toContain("pbkdf2_sha256$");
  });

  it("goes on after a derivation that failed, and does not hide the failure", async () => {
    let broken = true;
    const passwords = createPasswords(async () => {
      if (broken) throw new Error("no memory");
      return Buffer.alloc(32);
    });
    for (let i = 0; i < 40; i++)
      expect(String(await errorOf(passwords.hash_password(PASSWORD)))).toContain("no memory");
    broken = false;
    expect(await passwords.hash_password(PASSWORD)).toContain("pbkdf2_sha256$");
  });
});
