import type { DevEnvironment } from "vite";
import { expect, it } from "vitest";
import { ServedSourceMaps } from "./browser-files.ts";

/** Maps the first column of the first line to line 5, column 3. */
const MAPPINGS = "AAIE";

/** Records a module of the browser as served with each of the URLs. */
function serve(maps: ServedSourceMaps, file: string, urls: readonly string[]): void {
  const map = { version: 3, sources: ["view.tsx"], sourcesContent: ["the source"], names: [], mappings: MAPPINGS };
  const module = { file: `/app/${file}`, transformResult: { map } };
  const client = { config: { root: "/app" }, moduleGraph: { urlToModuleMap: new Map([[`/${file}`, module]]) } };
  for (const url of urls) maps.record(url, client as unknown as DevEnvironment); // it uses no other member
}

const edits = (file: string, count: number) =>
  Array.from({ length: count }, (_, index) => `/__web/dev/${file}?t=${1_700_000_000_000 + index}`);

it("returns the position in the source of a module that was served", () => {
  const maps = new ServedSourceMaps();
  serve(maps, "src/view.tsx", ["/__web/dev/src/view.tsx"]);
  const position = { file: "/app/src/view.tsx", line: 5, column: 3 };
  expect(maps.find("/__web/dev/src/view.tsx", 1, 1)).toEqual(position);
  expect(maps.find("/__web/dev/src/other.tsx", 1, 1)).toBeUndefined();
  expect(maps.includes("/app/src/view.tsx")).toBe(true);
  expect(maps.includes("/app/src/other.tsx")).toBe(false);
});

it("keeps the last versions of each module only, however many edits there are", () => {
  const maps = new ServedSourceMaps();
  serve(maps, "src/other.tsx", ["/__web/dev/src/other.tsx"]);
  const urls = edits("src/view.tsx", 200);
  serve(maps, "src/view.tsx", urls);
  expect(urls.map((url) => maps.find(url, 1, 1) !== undefined)).toEqual(urls.map((_, index) => index >= 190));
  expect(maps.find("/__web/dev/src/other.tsx", 1, 1)).toBeDefined();
});

it("keeps a version that is served again", () => {
  const maps = new ServedSourceMaps();
  const urls = edits("src/view.tsx", 10);
  serve(maps, "src/view.tsx", [...urls, ...urls.slice(0, 1), ...edits("src/view.tsx", 11).slice(10)]);
  expect(urls.map((url) => maps.find(url, 1, 1) !== undefined)).toEqual(urls.map((_, index) => index !== 1));
});
