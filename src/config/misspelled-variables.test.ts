import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BUILT, configErrorOf, DEV, SECRET } from "#test/environment";
import { App } from "../app.ts";
import { loadConfig } from "./index.ts";
import { misspelledVariables, unreportedMisspellings, unusedVariables } from "./misspellings.ts";
import { VARIABLES } from "./variables.ts";

/** Returns `WEB_ORIGN -> WEB_ORIGIN` for each misspelled variable. */
function misspellings(env: Record<string, string | undefined>): string[] {
  return misspelledVariables(env).map(
    ({ variable, fix }) => `${variable} -> ${/^Did you mean (\w+)\?$/.exec(fix)?.[1]}`,
  );
}

describe("misspelledVariables", () => {
  it.each([
    ["WEB_ORIGN", "WEB_ORIGIN"],
    ["WEB_ORIGINS", "WEB_ORIGIN"],
    ["WEB_WORKER", "WEB_WORKERS"],
    ["WEB_AUTH_SECERT", "WEB_AUTH_SECRET"],
    ["WEB_AUTHSECRET", "WEB_AUTH_SECRET"],
    ["WEB_COOKIES_SECURE", "WEB_COOKIE_SECURE"],
    ["WEB_EVN", "WEB_ENV"],
    ["WEB_BUSURL", "WEB_BUS_URL"],
    ["WEB_LOGLEVEL", "WEB_LOG_LEVEL"],
    ["WEB_TRUST_PROXIES", undefined], // three letters
  ])("suggests for %s: %s", (name, expected) => {
    expect(misspellings({ [name]: "x" })).toEqual(expected === undefined ? [] : [`${name} -> ${expected}`]);
  });

  it("finds each variable of tsweb with a missing, a doubled and two swapped letters", () => {
    for (const name of VARIABLES.filter((each) => each.startsWith("WEB_"))) {
      const [start, last, end] = [name.slice(0, -2), name.slice(-2, -1), name.slice(-1)];
      for (const misspelled of [`${start}${end}`, `${name}${end}`, `${start}${end}${last}`]) {
        if (misspelled === name) continue; // two equal letters were swapped
        expect(misspellings({ [misspelled]: "x" })).toEqual([`${misspelled} -> ${name}`]);
      }
    }
  });

  it.each([
    "WEB_URL",
    "WEB_DEV",
    "WEB_API_KEY",
    "WEB_META_DIR",
    "WEB_PUB_URL",
    "WEB_CDN_URL",
    "WEB_LOG_FILE",
    "WEB_ROOT",
    "WEB_",
  ])("accepts %s, a variable of the application", (name) => {
    expect(misspellings({ [name]: "x" })).toEqual([]);
  });

  it("accepts the variables of tsweb, and names with another prefix", () => {
    expect(misspellings(Object.fromEntries(VARIABLES.map((name) => [name, "x"])))).toEqual([]);
    expect(misspellings({ ORIGN: "x", PROT: "x", VITE_ORIGN: "x", WEBORIGIN: "x" })).toEqual([]);
  });

  it("accepts a name that is similar to a variable that is set", () => {
    expect(misspellings({ WEB_ORIGN: "x", WEB_ORIGIN: "https://shop.example" })).toEqual([]);
    expect(misspellings({ WEB_ORIGN: "x", WEB_ORIGIN: "" })).toEqual(["WEB_ORIGN -> WEB_ORIGIN"]);
  });

  it("contains no value of a variable", () => {
    expect(JSON.stringify(misspelledVariables({ WEB_AUTH_SECERT: SECRET }))).not.toContain(SECRET.slice(0, 8));
  });

  it("is reported once for each environment, and again for a new variable", () => {
    const env: Record<string, string> = { WEB_ORIGN: "x" };
    expect(unreportedMisspellings(env)).toHaveLength(1);
    expect(unreportedMisspellings(env)).toEqual([]);
    env.WEB_WORKER = "4";
    expect(unreportedMisspellings(env).map(({ variable }) => variable)).toEqual(["WEB_WORKER"]);
    expect(unreportedMisspellings({ WEB_ORIGN: "x" })).toHaveLength(1);
  });
});

describe("unusedVariables", () => {
  const SET = { WEB_ORIGIN: "x", WEB_BUS_URL: "x", WEB_AUTH_SECRET: "x" };
  const fixesOf = (env: Record<string, string>, named: readonly string[] = []) =>
    unusedVariables(env, (name) => named.includes(name)).map(({ variable, fix }) => `${variable}: ${fix}`);

  it.each([
    ["WEB_ORIGN", "WEB_ORIGIN"],
    ["WEB_REDISURL", "WEB_BUS_URL"],
    ["WEB_NATS_URL", "WEB_BUS_URL"],
    ["WEB_SECRETT", "WEB_AUTH_SECRET"],
    ["WEB_AUTH_SECERT", "WEB_AUTH_SECRET"],
    ["TSWEB_ORIGIN", "WEB_ORIGIN"],
  ])("reports %s although %s is set, unless the application names it", (name, meant) => {
    const env = { ...SET, [name]: "secret value" };
    expect(fixesOf(env)).toEqual([`${name}: Did you mean ${meant}? Otherwise remove it.`]);
    expect(fixesOf(env, [name])).toEqual([]);
    expect(JSON.stringify(unusedVariables(env, () => false))).not.toContain("secret value");
  });

  it("leaves out what misspelledVariables reports, and names that are not similar", () => {
    expect(fixesOf({ WEB_ORIGN: "x" })).toEqual([]);
    expect(fixesOf({ ...SET, WEB_CONCURRENCY: "2", WEB_API_KEY: "x", WEB_CDN_URL: "x", ORIGN: "x" })).toEqual([]);
  });
});

describe("the list of variables", () => {
  it("is what loadConfig reads, no more and no less", () => {
    const read = new Set<string>();
    const recorded = new Proxy<Record<string, string>>(
      { WEB_AUTH_SECRET: SECRET },
      {
        get(env, name) {
          read.add(String(name));
          return env[String(name)];
        },
      },
    );
    loadConfig(recorded, BUILT);
    expect([...read].sort()).toEqual([...VARIABLES]);
  });

  it.each(VARIABLES)("is documented: %s", (name) => {
    expect(readFileSync("docs/configuration.md", "utf8")).toContain(`\`${name}\``);
  });
});

describe("an application with a misspelled variable", () => {
  it("logs one warning at start, without the value", () => {
    const lines: unknown[] = [];
    const log = {
      info() {},
      error() {},
      warn: (fields: object, message: string) => void lines.push([fields, message]),
    };
    const env = { WEB_AUTH_SECRET: SECRET, WEB_ORIGN: "https://shop.example", WEB_WORKER: "4", WEB_MINE: "1" };
    new App({ modules: [], env, log });
    expect(lines).toEqual([
      [{ variable: "WEB_ORIGN" }, "WEB_ORIGN is no variable of tsweb. Did you mean WEB_ORIGIN?"],
      [{ variable: "WEB_WORKER" }, "WEB_WORKER is no variable of tsweb. Did you mean WEB_WORKERS?"],
    ]);
  });

  it("names it after the variable that is missing", () => {
    const error = configErrorOf({ WEB_AUTH_SECERT: SECRET }, BUILT);
    expect(error.message).toMatch(
      /^WEB_AUTH_SECRET is not set.*\nWEB_AUTH_SECERT is no variable of tsweb\.\n {2}Did you mean WEB_AUTH_SECRET\?$/s,
    );
    expect(error.message).not.toContain(SECRET);
  });

  it("is no error", () => {
    expect(() => loadConfig({ WEB_ORIGN: "https://shop.example" }, DEV)).not.toThrow();
  });
});
