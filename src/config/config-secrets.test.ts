import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BUILT,
  configErrorOf,
  DEV,
  invalidVariables,
  loadDevelopment,
  SECRET,
  SECRET_2,
  SECRET_3,
} from "#test/environment";
import { loadConfig } from "./config.ts";

/** Gives the bytes of a key in hexadecimal. */
function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

describe("secrets", () => {
  const names = ["WEB_AUTH_SECRET", "WEB_CSRF_SECRET", "WEB_AUTH_SECRET_PREVIOUS"];

  it("are used in development as well", () => {
    const config = loadDevelopment({
      WEB_AUTH_SECRET: SECRET,
      WEB_CSRF_SECRET: SECRET_2,
      WEB_AUTH_SECRET_PREVIOUS: SECRET_3,
    });
    expect([hex(config.secret), hex(config.csrfSecret), config.previousSecrets.map(hex)]).toEqual([
      SECRET,
      SECRET_2,
      [SECRET_3],
    ]);
  });

  it("are the same in either case of their digits", () => {
    expect(hex(loadDevelopment({ WEB_AUTH_SECRET: SECRET.toUpperCase() }).secret)).toBe(SECRET);
  });

  it.each([
    ["a digit short", SECRET.slice(1), "63"],
    ["a digit long", `${SECRET}0`, "65"],
    ["half as long", SECRET.slice(32), "32"],
    ["twice as long", SECRET + SECRET, "128"],
    ["one digit", "a", "1"],
    ["with a letter that is no digit", `${SECRET.slice(1)}g`, "not a hexadecimal digit"],
    ["in quotes", `"${SECRET}"`, "not a hexadecimal digit"],
    ["with 0x", `0x${SECRET}`, "not a hexadecimal digit"],
    ["in base64", Buffer.from(SECRET, "hex").toString("base64"), "not a hexadecimal digit"],
    ["in wide digits", "１".repeat(64), "not a hexadecimal digit"],
    ["a word", "changeme", "not a hexadecimal digit"],
  ])("%s are refused everywhere, without being shown", (_what, value, why) => {
    for (const name of names) {
      for (const options of [DEV, BUILT]) {
        const error = configErrorOf({ WEB_AUTH_SECRET: SECRET, [name]: value }, options);
        expect(error.problems.map(({ variable }) => variable)).toEqual([name]);
        expect(error.message).toContain(why);
        if (value.length > 2) expect(JSON.stringify(error.problems)).not.toContain(value.trim());
      }
    }
  });

  it("with white space around them are refused, which a file read whole would have", () => {
    for (const value of [`${SECRET}\n`, ` ${SECRET}`]) {
      expect(invalidVariables({ WEB_AUTH_SECRET: value, WEB_CSRF_SECRET: value })).toEqual([
        "WEB_AUTH_SECRET",
        "WEB_CSRF_SECRET",
      ]);
    }
  });

  it.each([
    ["noughts", "00".repeat(32)],
    ["one byte over and over", "ab".repeat(32)],
    ["one digit over and over", "f".repeat(64)],
    ["two bytes in turn", "01ff".repeat(16)],
    ["a word over and over", "deadbeef".repeat(8)],
    ["all digits, four times", "0123456789abcdef".repeat(4)],
    ["sixteen bytes twice", SECRET.slice(0, 32).repeat(2)],
    ["a row that counts up", Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString("hex")],
    ["a row that counts down", Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i)).toString("hex")],
    ["a row that counts in steps", Buffer.from(Array.from({ length: 32 }, (_, i) => i * 11)).toString("hex")],
    ["a single odd byte among noughts", `${"00".repeat(31)}01`],
  ])("%s are refused in production, and taken in development", (_what, value) => {
    for (const name of names) {
      expect(invalidVariables({ WEB_AUTH_SECRET: SECRET, [name]: value }, BUILT)).toEqual([name]);
      expect(() => loadDevelopment({ [name]: value })).not.toThrow();
    }
  });

  it("that are random are taken", () => {
    for (let i = 0; i < 1000; i++) {
      const secret = randomBytes(32).toString("hex");
      expect(hex(loadConfig({ WEB_AUTH_SECRET: secret }, BUILT).secret)).toBe(secret);
    }
  });

  describe("that were", () => {
    it.each([
      [SECRET, [SECRET]],
      [`${SECRET},${SECRET_2}`, [SECRET, SECRET_2]],
      [` ${SECRET} , ${SECRET_2} `, [SECRET, SECRET_2]],
    ])("%s", (WEB_AUTH_SECRET_PREVIOUS, secrets) => {
      expect(loadDevelopment({ WEB_AUTH_SECRET_PREVIOUS }).previousSecrets.map(hex)).toEqual(secrets);
    });

    it.each([
      [`${SECRET},`, "(secret 2 of 2)"],
      [`,${SECRET}`, "(secret 1 of 2)"],
      [`${SECRET},,${SECRET_2}`, "(secret 2 of 3)"],
      [`${SECRET};${SECRET_2}`, "(secret 1 of 1)"],
      [`${SECRET} ${SECRET_2}`, "(secret 1 of 1)"],
      [",", "(secret 1 of 2)"],
      [Array(9).fill(SECRET).join(","), "lists 9 secrets"],
    ])("%s: refused, and it is said which", (WEB_AUTH_SECRET_PREVIOUS, which) => {
      expect(invalidVariables({ WEB_AUTH_SECRET_PREVIOUS })).toEqual(["WEB_AUTH_SECRET_PREVIOUS"]);
      expect(configErrorOf({ WEB_AUTH_SECRET_PREVIOUS }).message).toContain(which);
      expect(configErrorOf({ WEB_AUTH_SECRET_PREVIOUS }).message).not.toContain(SECRET);
    });
  });
});

describe("the development key", () => {
  it("is 32 bytes, and the same after a restart", () => {
    expect(loadDevelopment().secret).toHaveLength(32);
    expect(hex(loadDevelopment().secret)).toBe(hex(loadDevelopment().secret));
  });

  it("is another in every project", () => {
    const keys = ["/srv/app", "/srv/app2", "/srv", "/"].map((projectDir) =>
      hex(loadConfig({}, { ...DEV, projectDir }).secret),
    );
    expect(new Set(keys).size).toBe(4);
  });

  it("is that of a directory, however its path is written", () => {
    const dir = mkdtempSync(join(tmpdir(), "config-"));
    try {
      const keys = [dir, `${dir}/`, `${dir}/./x/..`].map((projectDir) =>
        hex(loadConfig({}, { ...DEV, projectDir }).secret),
      );
      expect(new Set(keys).size).toBe(1);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("holds in what is built only when development is asked for", () => {
    expect(hex(loadConfig({ WEB_ENV: "development" }, BUILT).secret)).toBe(hex(loadDevelopment().secret));
  });
});
