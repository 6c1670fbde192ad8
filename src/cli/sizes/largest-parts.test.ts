import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { largestScriptParts, largestStyleParts } from "./index.ts";

const code = (bytes: number) => randomBytes(bytes / 2).toString("hex");

const PAGE = { file: "src/pages.server.tsx", line: 1, name: "home", path: "/", hasOwnLayout: false, views: [] };

const context = {
  root: "/app",
  isOwnModule: (id: string) => id.startsWith("/tsweb/dist/"),
  sizeOf: (path: string) => ({ "/view.js": 9000, "/shared.js": 1000, "/a.css": 10, "/b.css": 300 })[path] ?? 0,
  files: {
    styleSources: new Map([["/b.css", "src/b.css"]]),
    scripts: new Map([
      [
        "/view.js",
        {
          imports: [],
          dynamicImports: [],
          modules: {
            "/app/node_modules/.pnpm/chart.js@4.0.0/node_modules/chart.js/dist/a.js": code(2000),
            "/app/node_modules/chart.js/dist/b.js": code(2000),
            "/app/node_modules/@scope/dates/index.js": code(2000),
            "/app/src/view.tsx": code(3000),
          },
        },
      ],
      ["/shared.js", { imports: [], dynamicImports: [], modules: { "/tsweb/dist/a.js": code(100) } }],
      ["/empty.js", { imports: [], dynamicImports: [], modules: {} }],
    ]),
  },
};

it("the largest parts of scripts are packages and modules, with their shares of the compressed size", async () => {
  const scripts = ["/view.js", "/shared.js", "/empty.js"];
  const parts = await largestScriptParts({ page: PAGE, scripts, later: [], styles: [] }, context);
  expect(parts.map(({ name }) => name)).toEqual(["chart.js", "src/view.tsx", "@scope/dates"]);
  const bytes = parts.map((part) => part.bytes);
  for (const [index, expected] of [4000, 3000, 2000].entries()) {
    expect(Math.abs((bytes[index] ?? 0) - expected)).toBeLessThan(100);
  }
  const shared = await largestScriptParts({ page: PAGE, scripts: ["/shared.js"], later: [], styles: [] }, context);
  expect(shared).toEqual([{ name: "tsweb", bytes: 1000 }]);
});

it("the largest parts of style sheets are their source files", () => {
  const parts = largestStyleParts({ page: PAGE, scripts: [], later: [], styles: ["/a.css", "/b.css"] }, context);
  expect(parts).toEqual([
    { name: "src/b.css", bytes: 300 },
    { name: "/a.css", bytes: 10 },
  ]);
});
