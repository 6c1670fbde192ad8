import { describe, expect, it } from "vitest";
import { productionProblems } from "./check.ts";

const SECRET = "8f1d0c3b5a79264e8f1d0c3b5a79264f17e2d4c6b8a09f3e5d7c1b2a4f6e8d0c";
const FIT = { WEB_AUTH_SECRET: SECRET, WEB_COOKIE_SECURE: "1", WEB_TRUST_PROXY: "1" };
const wrong = (env: Record<string, string | undefined>) =>
  productionProblems({ ...FIT, ...env }).map(({ variable }) => variable);

describe("an environment for production", () => {
  it.each([
    ["as it should be", {}],
    ["that says so", { WEB_ENV: "production" }],
    ["behind two proxies", { WEB_TRUST_PROXY: "2" }],
    ["of several processes with a bus", { WEB_WORKERS: "4", WEB_BUS_URL: "redis://localhost" }],
    [
      "with all there is",
      { WEB_CSRF_SECRET: SECRET, WEB_AUTH_SECRET_PREVIOUS: SECRET, WEB_ORIGIN: "https://a.example" },
    ],
  ])("passes: %s", (_what, env) => {
    expect(wrong(env)).toEqual([]);
  });

  it.each<[string, Record<string, string | undefined>, string[]]>([
    ["no secret", { WEB_AUTH_SECRET: undefined }, ["WEB_AUTH_SECRET"]],
    ["an empty secret", { WEB_AUTH_SECRET: "" }, ["WEB_AUTH_SECRET"]],
    ["a short secret", { WEB_AUTH_SECRET: SECRET.slice(2) }, ["WEB_AUTH_SECRET"]],
    ["a secret that is a pattern", { WEB_AUTH_SECRET: "ab".repeat(32) }, ["WEB_AUTH_SECRET"]],
    ["a weak secret for tokens", { WEB_CSRF_SECRET: "00".repeat(32) }, ["WEB_CSRF_SECRET"]],
    ["cookies over plain HTTP", { WEB_COOKIE_SECURE: undefined }, ["WEB_COOKIE_SECURE"]],
    ["cookies over plain HTTP, said", { WEB_COOKIE_SECURE: "0" }, ["WEB_COOKIE_SECURE"]],
    ["cookies of a kind nobody knows", { WEB_COOKIE_SECURE: "yes" }, ["WEB_COOKIE_SECURE"]],
    ["a proxy that is not declared", { WEB_TRUST_PROXY: undefined }, ["WEB_TRUST_PROXY"]],
    ["several processes without a bus", { WEB_WORKERS: "2" }, ["WEB_WORKERS"]],
    ["development", { WEB_ENV: "development" }, ["WEB_ENV"]],
    [
      "development with a weak secret",
      { WEB_ENV: "development", WEB_AUTH_SECRET: "ab".repeat(32) },
      ["WEB_ENV", "WEB_AUTH_SECRET"],
    ],
    ["nothing at all", { ...undef(FIT) }, ["WEB_COOKIE_SECURE", "WEB_TRUST_PROXY", "WEB_AUTH_SECRET"]],
  ])("does not pass: %s", (_what, env, variables) => {
    expect(wrong(env)).toEqual(variables);
  });

  it("says what to do about each, and shows no secret", () => {
    for (const { problem, mend } of productionProblems({ WEB_ENV: "development", WEB_AUTH_SECRET: "ab".repeat(32) })) {
      expect(problem).toMatch(/\.$/);
      expect(mend).toMatch(/^(Set|Make|Leave|Serve)/);
      expect(problem + mend).not.toContain("abab");
    }
  });
});

function undef(env: Record<string, string>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(env).map((name) => [name, undefined]));
}
