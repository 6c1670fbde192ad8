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
import { loadConfig } from "./index.ts";

/** Returns the bytes of a secret in hexadecimal. */
function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

describe("secrets", () => {
  const names = ["WEB_AUTH_SECRET", "WEB_CSRF_SECRET", "WEB_AUTH_SECRET_PREVIOUS"];

  it("are also used in development", () => {
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

  it("accept hexadecimal digits in upper and lower case", () => {
    expect(hex(loadDevelopment({ WEB_AUTH_SECRET: SECRET.toUpperCase() }).secret)).toBe(SECRET);
  });

  it.each([
    ["one digit too short", SECRET.slice(1), "63"],
    ["one digit too long", `${SECRET}0`, "65"],
    ["of half the length", SECRET.slice(32), "32"],
    ["of twice the length", SECRET + SECRET, "128"],
    ["of one digit", "a", "1"],
    ["with a letter that is not a digit", `${SECRET.slice(1)}g`, "not a hexadecimal digit"],
    ["in quotes", `"${SECRET}"`, "not a hexadecimal digit"],
    ["with 0x", `0x${SECRET}`, "not a hexadecimal digit"],
    ["in base64", Buffer.from(SECRET, "hex").toString("base64"), "not a hexadecimal digit"],
    ["in full-width digits", "１".repeat(64), "not a hexadecimal digit"],
    ["that are a word", "changeme", "not a hexadecimal digit"],
  ])("%s are refused in every mode and variable, and not shown [RESPONSE-16]", (_what, value, reason) => {
    for (const name of names) {
      for (const options of [DEV, BUILT]) {
        const error = configErrorOf({ WEB_AUTH_SECRET: SECRET, [name]: value }, options);
        expect(error.problems.map(({ variable }) => variable)).toEqual([name]);
        expect(error.message).toContain(reason);
        if (value.length > 2) expect(JSON.stringify(error.problems)).not.toContain(value.trim());
      }
    }
  });

  it("with whitespace around them, such as the line break of a file, are refused", () => {
    for (const value of [`${SECRET}\n`, ` ${SECRET}`]) {
      expect(invalidVariables({ WEB_AUTH_SECRET: value, WEB_CSRF_SECRET: value })).toEqual([
        "WEB_AUTH_SECRET",
        "WEB_CSRF_SECRET",
      ]);
    }
  });

  it.each([
    ["of zeros", "00".repeat(32)],
    ["of one repeated byte", "ab".repeat(32)],
    ["of one repeated digit", "f".repeat(64)],
    ["of two alternating bytes", "01ff".repeat(16)],
    ["of one repeated word", "deadbeef".repeat(8)],
    ["of all digits, four times", "0123456789abcdef".repeat(4)],
    ["of 16 bytes, twice", SECRET.slice(0, 32).repeat(2)],
    ["that count up", Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString("hex")],
    ["that count down", Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i)).toString("hex")],
    ["that count in steps of 11", Buffer.from(Array.from({ length: 32 }, (_, i) => i * 11)).toString("hex")],
    ["of zeros and a single one", `${"00".repeat(31)}01`],
  ])("%s are refused in production, and accepted in development", (_what, value) => {
    for (const name of names) {
      expect(invalidVariables({ WEB_AUTH_SECRET: SECRET, [name]: value }, BUILT)).toEqual([name]);
      expect(() => loadDevelopment({ [name]: value })).not.toThrow();
    }
  });

  it("that are random are accepted", () => {
    for (let i = 0; i < 1000; i++) {
      const secret = randomBytes(32).toString("hex");
      expect(hex(loadConfig({ WEB_AUTH_SECRET: secret }, BUILT).secret)).toBe(secret);
    }
  });

  describe("of WEB_AUTH_SECRET_PREVIOUS", () => {
    it.each([
      [SECRET, [SECRET]],
      [`${SECRET},${SECRET_2}`, [SECRET, SECRET_2]],
      [` ${SECRET} , ${SECRET_2} `, [SECRET, SECRET_2]],
    ])("are read from the list %j", (WEB_AUTH_SECRET_PREVIOUS, secrets) => {
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
    ])(
      "in the list %j are refused, and the message contains their number: %s",
      (WEB_AUTH_SECRET_PREVIOUS, location) => {
        expect(invalidVariables({ WEB_AUTH_SECRET_PREVIOUS })).toEqual(["WEB_AUTH_SECRET_PREVIOUS"]);
        expect(configErrorOf({ WEB_AUTH_SECRET_PREVIOUS }).message).toContain(location);
        expect(configErrorOf({ WEB_AUTH_SECRET_PREVIOUS }).message).not.toContain(SECRET);
      },
    );
  });
});

describe("the development secret", () => {
  it("has 32 bytes, and is the same after a restart", () => {
    expect(loadDevelopment().secret).toHaveLength(32);
    expect(hex(loadDevelopment().secret)).toBe(hex(loadDevelopment().secret));
  });

  it("differs between projects", () => {
    const secrets = ["/srv/app", "/srv/app2", "/srv", "/"].map((projectDir) =>
      hex(loadConfig({}, { ...DEV, projectDir }).secret),
    );
    expect(new Set(secrets).size).toBe(4);
  });

  it("is the same for all spellings of a directory's path", () => {
    const dir = mkdtempSync(join(tmpdir(), "config-"));
    try {
      const secrets = [dir, `${dir}/`, `${dir}/./x/..`].map((projectDir) =>
        hex(loadConfig({}, { ...DEV, projectDir }).secret),
      );
      expect(new Set(secrets).size).toBe(1);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("is used by a built application only with WEB_ENV=development", () => {
    expect(hex(loadConfig({ WEB_ENV: "development" }, BUILT).secret)).toBe(hex(loadDevelopment().secret));
  });
});
