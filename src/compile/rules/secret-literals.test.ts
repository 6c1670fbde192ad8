import { describe, expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";
import { checkSecretLiterals } from "./secret-literals.ts";

const check = (code: string) => checkSecretLiterals(readTestModule("src/config.ts", code));

/** Written in parts, so that no tool takes this file for one that contains secrets. */
const join = (...parts: string[]) => parts.join("");

describe("a secret in a module that browsers load", () => {
  test.each([
    [join("sk_", "live_51Hxyz0123456789"), "a secret key of Stripe"],
    [join("sk_", "test_51Hxyz0123456789"), "a secret key of Stripe"],
    [join("whsec", "_0123456789abcdef"), "a webhook secret of Stripe"],
    [join("ghp", "_0123456789abcdefghijklmnopqrstuvwxyz"), "a token of GitHub"],
    [join("glpat", "-0123456789abcdefghij"), "a token of GitLab"],
    [join("xoxb", "-0123456789-0123456789-abc"), "a token of Slack"],
    [join("npm", "_0123456789abcdefghijklmnopqrstuvwxyz"), "a token of npm"],
    [join("sk-", "ant-0123456789abcdefghij"), "a key of OpenAI or Anthropic"],
    [join("SG", ".0123456789abcdefghijkl.0123456789abcdefghijklmnopqrstuvwxyz0123456"), "a key of SendGrid"],
    [join("-----BEGIN RSA ", "PRIVATE KEY-----"), "a private key"],
    ["postgres://shop:hunter2@db.internal/shop", "an address with a password"],
    ["redis://:hunter2@localhost:6379", "an address with a password"],
  ])("is rejected, without a copy in the error: %s [RESPONSE-15]", async (secret, what) => {
    for (const written of [`«"${secret}"`, `«\`Bearer ${secret}\``]) {
      const error = await compileErrorAt("src/config.ts", `export const KEY = ${written};`, check);
      expect(error.message).toContain(`This text is ${what}, and browsers load this module`);
      expect(error.message + error.frame).not.toContain(secret);
      expect(error.frame).toContain("export const KEY = ");
    }
  });

  test.each([
    join("pk_", "live_51Hxyz0123456789"),
    "sk_live_",
    "sk_live_…",
    "ghp_short",
    "sk-button-primary-large-and-blue",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "postgres://localhost/shop",
    "https://user:name@shop.example",
    "mailto:ada@shop.example",
    "The format is mysql://user@host/database",
  ])("is none: %s", (text) => {
    check(`export const a = ${JSON.stringify(text)}; // ${join("sk_", "live_0123456789 in a comment")}`);
  });
});
