import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { BuildError } from "../project/index.ts";
import { readPackageOptions } from "./package-options.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tsweb-package-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function read(text: string) {
  writeFileSync(join(root, "package.json"), text);
  return readPackageOptions(root);
}

it("has no options without package.json, and without the member tsweb in it", () => {
  expect(readPackageOptions(root)).toBeUndefined();
  expect(read('{ "name": "shop" }')).toBeUndefined();
  expect(read("[]")).toBeUndefined();
});

it("finds members with their locations, also behind a byte order mark and in lines that end with CRLF", () => {
  const options = read('\uFEFF{\r\n  "tsweb": {\r\n    "include": ["a"]\r\n  }\r\n}\r\n');
  expect(options?.location).toBe("package.json:2:12");
  expect(options?.member("include")).toMatchObject({ value: ["a"], location: "package.json:3:16" });
  expect(options?.member("budget")).toBeUndefined();
  expect(options?.member("toString")).toBeUndefined();
});

it("reads the last of several members with one name, as JSON.parse does", () => {
  const options = read('{ "tsweb": 1, "tsweb": { "include": ["a"], "include": ["b"] } }');
  expect(options?.member("include")).toMatchObject({ value: ["b"], location: "package.json:1:55" });
});

it("rejects a file that is not JSON", () => {
  expect(() => read('{ "tsweb": {} ')).toThrow(BuildError);
  expect(() => read('{ "tsweb": {}, }')).toThrow(/^package\.json is not valid JSON: .*\. Correct it\.$/s);
});

it.each([
  ["[]", '"tsweb" is []. Expected "tsweb": {'],
  ['"x"', '"tsweb" is "x". Expected "tsweb": {'],
  ["null", '"tsweb" is null. Expected "tsweb": {'],
])("rejects the value %s of tsweb at its location, with the expected form", (value, message) => {
  expect(() => read(`{\n  "tsweb": ${value}\n}`)).toThrow(`package.json:2:12\n${message}`);
});

it.each(["tsWeb", "TSWeb", "ts-web", "TsWeb", "ts_web"])(
  "rejects the options in a member with another name: %s",
  (name) => {
    expect(() => read(`{\n  "name": "shop",\n  "${name}": { "include": ["a"] }\n}`)).toThrow(
      `package.json:3:3\nThe options of tsweb are ignored here: the member is "${name}". Write it in lower case: "tsweb": {`,
    );
  },
);

it("ignores the options of other programs", () => {
  expect(read('{ "tsup": {}, "web": {}, "dependencies": { "tsWeb": "1" } }')).toBeUndefined();
});

it("rejects a misspelled member at its name, with the member that was meant", () => {
  expect(() => read('{\n  "tsweb": {\n    "includes": []\n  }\n}')).toThrow(
    'package.json:3:5\n"tsweb" has the unknown member "includes". Did you mean "include"? Expected "tsweb": {',
  );
  expect(() => read('{ "tsweb": { "budgett": {} } }')).toThrow('Did you mean "budget"?');
  expect(() => read('{ "tsweb": { "port": 1 } }')).toThrow('the unknown member "port". Expected');
});
