import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProject } from "#test/test-project";
import { unloadedPageAdvice } from "./unloaded-pages.ts";

let project: TestProject;

beforeAll(() => {
  project = TestProject.fromFiles({
    "src/app.ts": "",
    "src/about-us.server.tsx":
      '/*\nexport const old = page("/old", () => null);\n*/\n// export const new = page("/new", () => null);\nexport const about = page("/about", () => null);\n',
    "src/shop/items.server.tsx":
      "export const item = page('/items/:id', () => null);\nexport const file = page(`/files/**:path`, () => null);\n" +
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a module
      "export const each = page(`/${name}`, () => null);\n",
    "src/api.server.ts": 'export const rooms = route("POST /api/rooms", () => null);\n',
    "src/loaded.server.tsx": 'export const loaded = page("/loaded", () => null);\n',
    "src/pages.test.ts": 'export const tested = page("/tested", () => null);\n',
    "src/node_modules/x/index.ts": 'export const installed = page("/installed", () => null);\n',
  });
});
afterAll(() => project.remove());

const adviceFor = (path: string) =>
  unloadedPageAdvice(path, {
    root: project.dir,
    entry: project.file("src/app.ts"),
    files: new Set([project.file("src/app.ts"), project.file("src/loaded.server.tsx")]),
  });

describe("the advice about a page that is not served", () => {
  it("names a module that is not imported, and how to load it", async () => {
    expect(await adviceFor("/about")).toBe(
      "src/about-us.server.tsx:5 declares a page for this address, and src/app.ts does not import its module. Write " +
        '`import * as about_us from "./about-us.server.tsx"` there, and add about_us to `modules` of new App.',
    );
  });

  it.each([
    ["/api/rooms", "src/api.server.ts:1 declares a route for this address, and src/app.ts does not import its module."],
    ["/about/", "src/about-us.server.tsx:5 "],
    ["/items/7", "src/shop/items.server.tsx:1 "],
    ["/files/a/b.txt", '"./shop/items.server.tsx"'],
    [
      "/loaded",
      "src/loaded.server.tsx:1 declares a page for this address, and src/app.ts does not list its module: add",
    ],
  ])("names the module of %s", async (path, text) => {
    expect(await adviceFor(path)).toContain(text);
  });

  it.each(["/", "/items", "/items/7/8", "/files", "/old", "/new", "/tested", "/installed", "/name", "/aboutx"])(
    "is absent if no module certainly declares the page: %s",
    async (path) => {
      expect(await adviceFor(path)).toBeUndefined();
    },
  );

  it("is absent without a folder src", async () => {
    const modules = { root: "/nowhere", entry: "/nowhere/app.ts", files: new Set<string>() };
    expect(await unloadedPageAdvice("/about", modules)).toBeUndefined();
  });
});
