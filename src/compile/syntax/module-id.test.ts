import { expect, test } from "vitest";
import { hasAssetQuery, isScript, stripQuery } from "./parse.ts";

test.each([
  ["/a.ts", true],
  ["/a.tsx", true],
  ["/a.mjs", true],
  ["/a.css", false],
  ["/a.constructor", false],
  ["/a", false],
])("%s is a script: %s", (file, expected) => {
  expect(isScript(file)).toBe(expected);
});

test.each([
  ["/a.ts", "/a.ts"],
  ["/a.ts?raw", "/a.ts"],
  ["/a.ts#x?y", "/a.ts"],
  ["/a.ts?a\nb", "/a.ts"],
])("the file of the id %j is %s", (id, file) => {
  expect(stripQuery(id)).toBe(file);
});

test.each([
  ["/a.ts?raw", true],
  ["/a.ts?import&url", true],
  ["/a.ts?worker", true],
  ["/a.ts?worker_file&type=module", false],
  ["/a.ts?t=1", false],
  ["/a.ts?rawest", false],
])("%s has a query that imports the file as an asset: %s", (id, expected) => {
  expect(hasAssetQuery(id)).toBe(expected);
});
