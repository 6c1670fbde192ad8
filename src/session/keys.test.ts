import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Config, loadConfig } from "../config/index.ts";
import { deriveKey, keysFor, type Purpose } from "./keys.ts";
import { signToken, verifyToken } from "./token.ts";

const OLD = "11".repeat(32);
const OLDER = "22".repeat(32);
const NEW = "33".repeat(32);

function keysConfig(env: Record<string, string>): Config {
  return loadConfig({ WEB_AUTH_SECRET: NEW, ...env }, { built: false, projectDir: "/app" });
}

describe("deriveKey", () => {
  it("is HKDF-SHA256 with an empty salt, and the purpose and the realm as info", () => {
    const secret = Buffer.from(NEW, "hex");
    const extracted = createHmac("sha256", Buffer.alloc(32)).update(secret).digest();
    const expanded = createHmac("sha256", extracted).update("tsweb/session/v2/shop").update(Buffer.of(1)).digest();
    expect(deriveKey(secret, "session", "shop").export()).toEqual(expanded);
  });

  it("returns different keys for different purposes, realms and secrets, and never the secret itself", () => {
    const secrets = [OLD, NEW].map((hex) => Buffer.from(hex, "hex"));
    const keys = secrets.flatMap((secret) =>
      ["session", "feed", "csrf", "magic"].flatMap((purpose) =>
        ["shop", "blog"].map((realm) => deriveKey(secret, purpose, realm).export().toString("hex")),
      ),
    );
    expect(new Set([...keys, OLD, NEW]).size).toBe(18);
  });
});

describe("keysFor", () => {
  const purposes: Purpose[] = ["session", "feed", "csrf"];

  it("returns one signing key for each purpose, which no other purpose accepts, even with equal secrets [SESSION-2]", () => {
    const config = keysConfig({ WEB_CSRF_SECRET: NEW, WEB_AUTH_SECRET_PREVIOUS: `${OLD},${NEW}` });
    for (const from of purposes) {
      const token = signToken(keysFor(config, from).sign, "text");
      for (const to of purposes) {
        expect(verifyToken(keysFor(config, to).verify, token)).toBe(from === to ? "text" : null);
      }
    }
  });

  it("verifies with previous keys, newest first, and signs with none of them [SESSION-40]", () => {
    const config = keysConfig({ WEB_AUTH_SECRET_PREVIOUS: `${OLD},${OLDER}` });
    for (const purpose of ["session", "feed"] as const) {
      const { sign, verify } = keysFor(config, purpose);
      expect(verify.map((key) => key.export())).toEqual(
        [NEW, OLD, OLDER].map((hex) => deriveKey(Buffer.from(hex, "hex"), purpose, config.realm).export()),
      );
      expect(sign.export()).toEqual(verify[0]?.export());
    }
  });

  it("returns one CSRF key, derived from its own secret", () => {
    const config = keysConfig({ WEB_CSRF_SECRET: OLD, WEB_AUTH_SECRET_PREVIOUS: OLDER });
    expect(keysFor(config, "csrf").verify.map((key) => key.export())).toEqual([
      deriveKey(Buffer.from(OLD, "hex"), "csrf", config.realm).export(),
    ]);
  });

  it("throws for the CSRF key on every call if WEB_CSRF_SECRET is not set", () => {
    const config = keysConfig({});
    expect(() => keysFor(config, "csrf")).toThrow("WEB_CSRF_SECRET is not set");
    expect(() => keysFor(config, "csrf")).toThrow("WEB_CSRF_SECRET is not set");
    expect(keysFor(config, "session").verify).toHaveLength(1);
  });

  it("derives the keys once for each configuration", () => {
    const config = keysConfig({ WEB_CSRF_SECRET: OLD });
    for (const purpose of purposes) expect(keysFor(config, purpose)).toBe(keysFor(config, purpose));
    const same = keysConfig({ WEB_CSRF_SECRET: OLD });
    expect(keysFor(same, "session")).not.toBe(keysFor(config, "session"));
    expect(keysFor(same, "session").sign.equals(keysFor(config, "session").sign)).toBe(true);
  });
});
