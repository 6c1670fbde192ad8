import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { defaultRealm, parseRealm, processRealm } from "./realm.ts";

const folder = mkdtempSync(join(tmpdir(), "tsweb-realm-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the default realm", () => {
  it.each([
    ['{ "name": "@acme/shop" }', "@acme/shop"],
    [`{ "name": "${"é".repeat(300)}" }`, "é".repeat(214)],
    ["{}", "tsweb"],
    ['{ "name": "" }', "tsweb"],
    ['\uFEFF{ "name": "shop" }', "shop"],
  ])("with the package.json %s is the name in it, of at most 214 characters, or tsweb", (text, realm) => {
    writeFileSync(join(folder, "package.json"), text);
    expect([defaultRealm(folder), defaultRealm(join(folder, "src"))]).toEqual([realm, realm]);
  });
});

describe("WEB_REALM", () => {
  it.each(["shop", "@acme/shop", "my.shop-2_b", "a".repeat(214)])("can be %s", (text) => {
    expect([parseRealm(text), processRealm({ WEB_REALM: text })]).toEqual([text, text]);
  });

  it.each(["a b", "shop:1", "café", "a".repeat(215), "a\nb"])("cannot be %j", (text) => {
    expect(() => processRealm({ WEB_REALM: text })).toThrow(ConfigError);
    expect(() => processRealm({ WEB_REALM: text })).toThrow(/WEB_REALM is .*, which is not a realm\./);
  });

  it("has the default of the current folder if it is empty or not set", () => {
    expect([processRealm({}), processRealm({ WEB_REALM: "" })]).toEqual(["tsweb", "tsweb"]);
  });
});
