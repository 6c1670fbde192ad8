import { expect, test } from "vitest";
import { hasAssetQuery, isScript, isServerModule, stripQuery } from "./module-id.ts";

test.each([
  ["/app/a.server.ts", true],
  ["/app/a.server.tsx", true],
  ["/app/a.server.js", true],
  ["/app/a.server.jsx", true],
  ["/app/a.server.mts", true],
  ["/app/a.server.mjs", true],
  ["/app/A.SERVER.TS", true],
  ["C:\\app\\a.server.ts", true],
  ["/app/.server.ts", true],
  ["/app/server.ts", false],
  ["/app/aserver.ts", false],
  ["/app/a.server.css", false],
  ["/app/a.server.ts.map", false],
  ["/app/a.server.test.ts", false],
  ["/app/node_modules/x/a.server.ts", false],
  ["C:\\app\\node_modules\\x\\a.server.ts", false],
])("%s is a server module: %s", (file, expected) => {
  expect(isServerModule(file)).toBe(expected);
});

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
