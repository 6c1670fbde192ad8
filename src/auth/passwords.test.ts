import { pbkdf2Sync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestContext } from "#test/request-context";
import { RPCError } from "../errors.ts";
import { RequestContext, runInContext } from "../http/index.ts";
import {
  createPasswordFunctions,
  type DeriveKey,
  derivePbkdf2,
  hash_password,
  ITERATIONS,
  verify_password,
} from "./passwords.ts";

const PASSWORD = "correct horse battery staple";

/** A hash that Django 5.2 created. */
const DJANGO_5 = "pbkdf2_sha256$1000000$0PeDpDrl62ceQWfdlKfmX4$qkqSd17xKbBSAZ7pibDG3/pcNbnvCw9IB53eCIYuoyM=";

/** Hashes of Python's hashlib.pbkdf2_hmac, in the format of Django. */
const DJANGO = "pbkdf2_sha256$600000$Zq3vR8tLxW2nYk6PbJ0cMa$f6036IQp90mc7h58WThf0GIQzGGRQm4H/vgXZKGKbM4=";
const DJANGO_OLD = "pbkdf2_sha256$1000$Zq3vR8tLxW2nYk6PbJ0cMa$F2B+xpt0/2uKgMNvG2eRGKBu1Saa85Pht1l/oJA8Ybk=";
const DJANGO_UNICODE = "pbkdf2_sha256$260000$seasalt2$L7j4naZ0YJHGrt00oM5kWqXEUlquA9fU9MuiWn/DLwM=";

/**
 * Returns the password functions with a derivation that counts the iterations, but runs only a thousandth of them, so
 * that a test can call them hundreds of times.
 */
function countingFunctions() {
  const iterations: number[] = [];
  const derive: DeriveKey = async (password, salt, count) => {
    iterations.push(count);
    return pbkdf2Sync(password, salt, Math.ceil(count / 1000), 32, "sha256");
  };
  const spent = () => iterations.splice(0).reduce((sum, count) => sum + count, 0);
  return { ...createPasswordFunctions(derive), spent };
}

/** Returns a stored hash of {@link countingFunctions}. */
function cheapHash(password: string, iterations: number): string {
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
  ])(
    "is PBKDF2-HMAC-SHA256 for the password %s, the salt %s and %i iterations",
    async (password, salt, iterations, hex) => {
      expect((await derivePbkdf2(password, salt, iterations)).toString("hex")).toBe(hex);
    },
  );
});

describe("hash_password", () => {
  it("returns 600,000 iterations of PBKDF2-HMAC-SHA256 with a salt of 16 bytes, in the format of Django [SIGNIN-2]", async () => {
    const stored = await hash_password(PASSWORD);
    expect(stored).toMatch(/^pbkdf2_sha256\$600000\$[0-9a-f]{32}\$[A-Za-z0-9+/]{43}=$/);
    expect(stored).toHaveLength(98);
    const [, , salt = "", hash] = stored.split("$");
    expect(pbkdf2Sync(PASSWORD, salt, 600_000, 32, "sha256").toString("base64")).toBe(hash);
  });

  it("uses a new salt each time, and so returns another hash", async () => {
    const { hash_password } = countingFunctions();
    const stored = await Promise.all(Array.from({ length: 10 }, () => hash_password(PASSWORD)));
    expect(new Set(stored.map((text) => text.split("$")[2])).size).toBe(10);
    expect(new Set(stored.map((text) => text.split("$")[3])).size).toBe(10);
  });

  it("does not block the event loop [SIGNIN-1]", async () => {
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
      const { hash_password, spent } = countingFunctions();
      const error = await errorOf(Reflect.apply(hash_password, null, [password]));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain("hash_password: the password must be a string");
      expect(spent()).toBe(0);
    },
  );

  it.each([
    ["an empty password", "", "cannot be empty"],
    ["4,097 bytes", "x".repeat(4097), "at most 4096 bytes"],
    ["4,097 bytes in fewer characters", `${"é".repeat(2048)}x`, "at most 4096 bytes"],
    ["a megabyte", "x".repeat(1_000_000), "at most 4096 bytes"],
    ["an unpaired surrogate", "password\ud800", "valid Unicode"],
    ["a NUL, which HMAC would ignore at the end", "password\0", "NUL"],
  ])("throws validation_error for %s, before any work", async (_what, password, reason) => {
    const { hash_password, spent } = countingFunctions();
    const error = await errorOf(hash_password(password));
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "validation_error", message: expect.stringContaining(reason) });
    expect(spent()).toBe(0);
  });

  it.each([
    ["one character", "x"],
    ["spaces", "   "],
    ["4,096 bytes", "é".repeat(2048)],
  ])("accepts a password of %s", async (_what, password) => {
    const { hash_password, verify_password } = countingFunctions();
    expect(await verify_password(password, await hash_password(password))).toBe(true);
  });
});

describe("verify_password", () => {
  it("accepts a password with the hash of hash_password, and no other password", async () => {
    const stored = await hash_password(PASSWORD);
    expect(await verify_password(PASSWORD, stored)).toBe(true);
    expect(await verify_password(`${PASSWORD} `, stored)).toBe(false);
  });

  it.each([
    ["created by Django itself", "pässwörd ✓", DJANGO_5],
    ["of 600,000 iterations", PASSWORD, DJANGO],
    ["of fewer iterations", PASSWORD, DJANGO_OLD],
    ["of a password with several scripts", "pässwörd ✓ 密码 🔑", DJANGO_UNICODE],
  ])("accepts Django's hash %s", async (_what, password, stored) => {
    expect(await verify_password(password, stored)).toBe(true);
    expect(await verify_password(`${password}x`, stored)).toBe(false);
  });

  it("refuses every other password", async () => {
    const { hash_password, verify_password } = countingFunctions();
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

  it("does not normalize Unicode: two spellings of one letter are two passwords", async () => {
    const { hash_password, verify_password } = countingFunctions();
    const stored = await hash_password("é");
    expect(await verify_password("e\u0301", stored)).toBe(false);
    expect(await verify_password("é", stored)).toBe(true);
  });

  it("accepts any password with its own hash only", async () => {
    const { hash_password, verify_password } = countingFunctions();
    const anyPassword = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 50 })
      .filter((text) => !text.includes("\0"));
    await fc.assert(
      fc.asyncProperty(anyPassword, anyPassword, async (password, otherPassword) => {
        const stored = await hash_password(password);
        expect(await verify_password(password, stored)).toBe(true);
        expect(await verify_password(otherPassword, stored)).toBe(password === otherPassword);
      }),
      { numRuns: 30 },
    );
  });

  it("returns false for a hash with any one character changed", async () => {
    const { verify_password } = countingFunctions();
    const stored = cheapHash(PASSWORD, 1000);
    for (let at = 0; at < stored.length; at++) {
      for (const character of ["A", "z", "1", "$", "+", "="]) {
        if (stored[at] === character) continue;
        const changed = stored.slice(0, at) + character + stored.slice(at + 1);
        // The counting derivation rounds the iterations up, so a change of their last digits has no effect.
        if (at >= "pbkdf2_sha256$".length && at < "pbkdf2_sha256$1000".length) continue;
        if (await verify_password(PASSWORD, changed)) expect.fail(`${character} at ${at} was accepted`);
      }
    }
  });

  const malformed = [
    ["absent", undefined],
    ["null", null],
    ["empty", ""],
    ["a plain password", PASSWORD],
    ["cut off", DJANGO.slice(0, -1)],
    ["of another scheme", DJANGO.replace("sha256", "sha1")],
    ["without iterations", DJANGO.replace("600000", "0")],
    ["with more iterations than the maximum", DJANGO.replace("600000", "10000001")],
    ["with 100 digits of iterations", DJANGO.replace("600000", "9".repeat(100))],
    ["1 MB long", DJANGO + "x".repeat(1_000_000)],
    ["a number", 42],
    ["an object", { hash: DJANGO }],
    ["an array with a hash", [DJANGO]],
  ] as const;

  it.each(malformed)(
    "returns false after the full work for a stored hash that is %s [SIGNIN-3]",
    async (_what, stored) => {
      const { verify_password, spent } = countingFunctions();
      expect(await Reflect.apply(verify_password, null, [PASSWORD, stored])).toBe(false);
      expect(spent()).toBe(ITERATIONS);
    },
  );

  it("never returns true for the dummy hash of an unknown account", async () => {
    for (const password of ["", "0", "\0", "0".repeat(32)]) {
      expect(await countingFunctions().verify_password(password, undefined)).toBe(false);
    }
    const deriveZeros: DeriveKey = async () => Buffer.alloc(32);
    expect(await createPasswordFunctions(deriveZeros).verify_password(PASSWORD, undefined)).toBe(false);
  });

  it.each([1, 1000, 260_000, 599_999, 600_000])(
    "does the same work for a hash of %i iterations, with the right and a wrong password [SIGNIN-4]",
    async (n) => {
      const { verify_password, spent } = countingFunctions();
      const stored = cheapHash(PASSWORD, n);
      expect(await verify_password(PASSWORD, stored)).toBe(true);
      expect(spent()).toBe(ITERATIONS);
      expect(await verify_password("wrong", stored)).toBe(false);
      expect(spent()).toBe(ITERATIONS);
    },
  );

  it.each([600_001, 1_000_000, 10_000_000])("runs %i iterations if the hash has as many", async (n) => {
    const { verify_password, spent } = countingFunctions();
    expect(await verify_password(PASSWORD, cheapHash(PASSWORD, n))).toBe(true);
    expect(spent()).toBe(n);
  });

  it.each([
    ["an empty password", ""],
    ["a password that is too long", "x".repeat(4097)],
    ["an unpaired surrogate", "a\ud800"],
    ["a password with a NUL", "a\0"],
  ])("returns false after the full work for %s, which hash_password refuses", async (_what, password) => {
    const { verify_password, spent } = countingFunctions();
    for (const stored of [cheapHash(password, 1000), cheapHash("", 600_000), undefined]) {
      expect(await verify_password(password, stored)).toBe(false);
      expect(spent()).toBe(ITERATIONS);
    }
  });

  it.each([undefined, null, 0, true, {}, ["password"], Symbol("x")])(
    "throws a TypeError for the password %s, for a known and an unknown account",
    async (password) => {
      const { verify_password, spent } = countingFunctions();
      for (const stored of [DJANGO, undefined, "malformed"]) {
        const error = await errorOf(Reflect.apply(verify_password, null, [password, stored]));
        expect(error).toBeInstanceOf(TypeError);
        expect(String(error)).not.toContain(DJANGO);
      }
      expect(spent()).toBe(0);
    },
  );

  it("returns false or throws a TypeError for any arguments", async () => {
    const { verify_password } = countingFunctions();
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

describe("password functions under load", () => {
  /** Returns the password functions with a derivation that ends when the test calls `finish`. */
  function pausedFunctions() {
    const pending: (() => void)[] = [];
    let started = 0;
    const passwords = createPasswordFunctions(async () => {
      started++;
      await new Promise<void>((resolve) => pending.push(resolve));
      return Buffer.alloc(32);
    });
    const finish = () => {
      for (const end of pending.splice(0)) end();
    };
    return { ...passwords, finish, started: () => started };
  }
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

  /** Runs work in a request of a client with this address. */
  function fromAddress<T>(address: string, work: () => T): T {
    const { inbound, id, traceparent, config } = requestContext();
    return runInContext(new RequestContext({ inbound, id, traceparent, config, address }), work);
  }

  it("run two at once, let 8 of a client wait, and reject its further calls of either function", async () => {
    const { hash_password, verify_password, finish, started } = pausedFunctions();
    const accepted = Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? hash_password(PASSWORD) : verify_password(PASSWORD, undefined),
    );
    await nextTurn();
    expect(started()).toBe(2);
    for (const work of [hash_password(PASSWORD), verify_password(PASSWORD, DJANGO), verify_password(PASSWORD, null)]) {
      expect(await errorOf(work)).toMatchObject({ code: "rate_limited", details: { retry_after: 1 } });
    }
    for (let done = 0; done < 10; done += 2) {
      expect(started()).toBe(done + 2);
      finish();
      await nextTurn();
    }
    expect(await Promise.all(accepted)).toHaveLength(10);
    const after = hash_password(PASSWORD);
    await nextTurn();
    finish();
    expect(await after).toContain("pbkdf2_sha256$");
  });

  it("check a password of another client next, while one client has sent 36 at once [SIGNIN-6]", async () => {
    const { verify_password, finish } = pausedFunctions();
    const burst = Array.from({ length: 36 }, () => fromAddress("192.0.2.1", () => verify_password(PASSWORD, null)));
    const refused = Promise.allSettled(burst).then((all) => all.filter(({ status }) => status === "rejected"));
    const victim = fromAddress("192.0.2.2", () => verify_password(PASSWORD, null));
    await nextTurn();
    finish(); // the two that run
    await nextTurn();
    finish(); // one of each client
    expect(await victim).toBe(false);
    for (let i = 0; i < 4; i++) {
      await nextTurn();
      finish();
    }
    expect(await refused).toHaveLength(36 - 2 - 8);
  });

  it("count one client by the first 64 bits of its IPv6 address, and all work outside of requests as one client", async () => {
    const { verify_password, finish } = pausedFunctions();
    const outcomes: string[] = [];
    const attempt = (client: string, work: () => Promise<boolean>) =>
      work().catch((error: unknown) => outcomes.push(`${client}: ${error instanceof RPCError ? error.code : error}`));
    for (let i = 0; i < 11; i++) {
      void attempt("IPv6", () => fromAddress(`2001:db8:1:2::${i}`, () => verify_password(PASSWORD, null)));
      void attempt("outside", () => verify_password(PASSWORD, null));
    }
    await nextTurn();
    expect(outcomes).toEqual([
      "IPv6: rate_limited",
      "outside: rate_limited",
      "IPv6: rate_limited",
      "outside: rate_limited",
    ]);
    finish();
  });

  it("let 32 of all clients wait", async () => {
    const { verify_password, started } = pausedFunctions();
    const refused: unknown[] = [];
    for (let i = 0; i < 40; i++) {
      fromAddress(`192.0.2.${i}`, () => verify_password(PASSWORD, null)).catch((error: unknown) => refused.push(error));
    }
    await nextTurn();
    expect(started()).toBe(2);
    expect(refused).toHaveLength(40 - 2 - 32);
  });

  it("continue after a derivation that failed, and report the failure", async () => {
    let broken = true;
    const passwords = createPasswordFunctions(async () => {
      if (broken) throw new Error("no memory");
      return Buffer.alloc(32);
    });
    for (let i = 0; i < 40; i++)
      expect(String(await errorOf(passwords.hash_password(PASSWORD)))).toContain("no memory");
    broken = false;
    expect(await passwords.hash_password(PASSWORD)).toContain("pbkdf2_sha256$");
  });
});
