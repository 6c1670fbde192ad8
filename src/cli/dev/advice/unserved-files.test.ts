import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProject } from "#test/test-project";
import { unservedFileAdvice } from "./unloaded-pages.ts";

let project: TestProject;

/** A page in line 3 of a module, with one element. */
const pageWith = (element: string) =>
  `import { page } from "tsweb";\n// <img src="/commented.svg" />\nexport const home = page("/", () => ${element});\n`;

const FILES = {
  "src/beside.server.tsx": pageWith('<img src="./logo.svg" alt="" />'),
  "src/logo.svg": "<svg />",
  "src/commented.svg": "<svg />",
  "src/prefixed.server.tsx": pageWith("<img src='/public/photo.png' alt='' />"),
  "src/nested/up.server.tsx": pageWith("<video src={`../../public/film.mp4`} />"),
  "public/photo.png": "x",
  "public/film.mp4": "x",
  "public/icons/pen.svg": "<svg />",
  "src/icons.server.tsx": pageWith('<img src="icons/pen.svg" alt="" />'),
  "src/from-root.server.tsx": pageWith('<link rel="stylesheet" href="/src/style.css" />'),
  "src/style.css": "p { color: red }",
  "src/script.server.tsx": pageWith('<script src="/src/client.ts" />'),
  "src/client.ts": "export {};",
  "src/plain.server.tsx": pageWith('<script src="/lib/chart.js"></script>'),
  "lib/chart.js": "",
  "src/2 kinds.server.tsx": pageWith('<img src="./my-logo.dark.webp?x=1" alt="" />'),
  "src/my-logo.dark.webp": "x",
  "src/hostile.server.tsx": pageWith(
    '<p><img src="/../outside.svg" /><img src="../../outside.svg" /><img src="/.git/x.svg" /><script src="/src/db.server.ts" />' +
      '<img src="/node_modules/x/logo.svg" /><img src="//cdn.example/logo.svg" /><img src="https://cdn.example/logo.svg" /></p>',
  ),
  ".git/x.svg": "<svg />",
  "node_modules/x/logo.svg": "<svg />",
  "src/db.server.ts": "export {};",
};

beforeAll(() => {
  project = TestProject.fromFiles(
    Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`app/${name}`, text])),
  );
  project.write("outside.svg", "<svg />");
});
afterAll(() => project.remove());

const adviceFor = (pathname: string, { from = "/", base = "" } = {}) =>
  unservedFileAdvice(
    { pathname, referer: `http://localhost:3000${from}` },
    { root: project.file("app"), publicDir: project.file("app/public"), base },
  );

describe("the advice about a file that is not served", () => {
  it("names the module with the element, and how to import a file beside it", async () => {
    expect(await adviceFor("/logo.svg")).toBe(
      "src/beside.server.tsx:3 requests /logo.svg, where nothing is served. src/logo.svg is served only if a module imports " +
        'it. Write `import logo from "./logo.svg"` and `src={logo}`, or move the file to public/ and write src="/logo.svg".',
    );
  });

  it.each([
    [
      "/public/photo.png",
      'src/prefixed.server.tsx:3 requests /public/photo.png, where nothing is served. public/photo.png is served at /photo.png: write src="/photo.png".',
    ],
    ["/src/style.css", 'Write `import "./style.css"`, and leave out this element.'],
    ["/src/client.ts", 'Browsers load the modules of views: import it in a view with `import "./client.ts"`'],
    [
      "/lib/chart.js",
      'Import it in a view with `import "../lib/chart.js"`, or move the file to public/ and write src="/chart.js".',
    ],
    ["/my-logo.dark.webp", 'Write `import myLogo from "./my-logo.dark.webp"` and `src={myLogo}`'],
  ])("states the fix for %s", async (path, text) => {
    expect(await adviceFor(path)).toContain(text);
  });

  it("resolves a URL without a slash as the browser does, from the address of the page", async () => {
    expect(await adviceFor("/shop/logo.svg", { from: "/shop/pens?x=1" })).toContain("src/logo.svg is served only if");
    expect(await adviceFor("/public/film.mp4", { from: "/a/b/c" })).toContain('write src="/film.mp4"');
    expect(await adviceFor("/shop/icons/pen.svg", { from: "/shop/", base: "/shop" })).toContain(
      'write src="/shop/icons/pen.svg"',
    );
    expect(await adviceFor("/logo.svg", { from: "/shop/pens" })).toBeUndefined();
    const folders = { root: project.file("app"), publicDir: "", base: "" };
    expect(await unservedFileAdvice({ pathname: "/logo.svg", referer: undefined }, folders)).toBeUndefined();
    expect(await unservedFileAdvice({ pathname: "/logo.svg", referer: "about:blank" }, folders)).toBeUndefined();
  });

  it.each([
    "/",
    "/missing.svg",
    "/src/logo.svg",
    "/commented.svg",
    "/outside.svg",
    "/../outside.svg",
    "/%2e%2e/outside.svg",
    "/.git/x.svg",
    "/src/db.server.ts",
    "/node_modules/x/logo.svg",
    "/cdn.example/logo.svg",
    "/public/icons/pen.svg",
  ])(
    "is absent for a file to which no element certainly refers, or that is not a file of the project: %s",
    async (path) => {
      expect(await adviceFor(path)).toBeUndefined();
    },
  );
});
