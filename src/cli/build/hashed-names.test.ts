import type { Rolldown } from "vite";
import { describe, expect, it } from "vitest";
import { hashedNames } from "./kept-assets.ts";

const HASHED = {
  entryFileNames: "assets/[name]-[hash].js",
  chunkFileNames: "chunks/[hash:10].js",
  assetFileNames: "assets/[name]-[hash][extname]",
};

function bundleOf(files: Readonly<Record<string, "entry" | "chunk" | "asset">>): Rolldown.OutputBundle {
  const entries = Object.entries(files).map(([fileName, kind]) => [
    fileName,
    { fileName, type: kind === "asset" ? "asset" : "chunk", isEntry: kind === "entry" },
  ]);
  return Object.fromEntries(entries);
}

describe("hashedNames", () => {
  it("returns the names that match the pattern of their kind of file", () => {
    const bundle = bundleOf({
      "assets/app-aB3_-9xZ.js": "entry",
      "assets/shop.cart-aB3_-9xZ.js": "entry",
      "chunks/0123456789.js": "chunk",
      "assets/style-aB3_-9xZ.css": "asset",
      "assets/LICENSE-aB3_-9xZ": "asset",
    });
    expect(hashedNames(bundle, HASHED)).toEqual(Object.keys(bundle));
  });

  it.each([
    ["assets/app.js", "entry"],
    ["assets/app-short.js", "entry"],
    ["assets/app-aB3_-9xZ.mjs", "entry"],
    ["assets/app-aB3_-9xZ.js", "chunk"],
    ["chunks/01234567.js", "chunk"],
    ["assets/style.css", "asset"],
    ["sw.js", "asset"],
  ] as const)("omits the name %s of a file of the kind %s", (name, kind) => {
    expect(hashedNames(bundleOf({ [name]: kind }), HASHED)).toEqual([]);
  });

  it.each([
    ["without a hash", { ...HASHED, entryFileNames: "assets/[name].js" }],
    ["that is a function", { ...HASHED, entryFileNames: () => "assets/[name]-[hash].js" }],
    ["whose hash is too short", { ...HASHED, entryFileNames: "assets/[name]-[hash:3].js" }],
  ])("omits the names of an option %s", (_, options) => {
    expect(hashedNames(bundleOf({ "assets/app-abc.js": "entry", "assets/app.js": "entry" }), options)).toEqual([]);
  });
});
