import { describe, expect, it } from "vitest";
import { filesOfPages, sizesOfPages } from "./built-files.ts";
import { pageTable } from "./index.ts";

const VIEW = { file: "src/counter.tsx", name: "Counter" };
const OTHER = { file: "src/other.tsx", name: "Other" };
const LAYOUT_VIEW = { file: "src/menu.tsx", name: "Menu" };

const page = (path: string, views: readonly (typeof VIEW)[] = [], more = {}) => ({
  file: "src/pages.server.tsx",
  line: 1,
  name: "home",
  path,
  hasOwnLayout: false,
  views,
  ...more,
});

const script = (imports: readonly string[] = [], dynamicImports: readonly string[] = []) => ({
  imports,
  dynamicImports,
  modules: {},
});

const asset = (src: string, ...preload: readonly string[]) => ({ src, preload });

function filesOf(pages: readonly ReturnType<typeof page>[], layoutViews: readonly (typeof VIEW)[] = []) {
  return filesOfPages({
    registry: { pages: () => pages, layoutViews: () => layoutViews },
    manifest: {
      islands: asset("/islands.js", "/tsweb.js"),
      views: {
        "src/counter.tsx": asset("/counter.js", "/tsweb.js"),
        "src/other.tsx": asset("/other.js"),
        "src/menu.tsx": asset("/menu.js"),
      },
      styles: { "src/pages.server.tsx": ["/all.css", "/pages.css"] },
      appStyles: ["/all.css"],
    },
    files: {
      styleSources: new Map(),
      scripts: new Map([
        ["/islands.js", script(["/tsweb.js"])],
        ["/tsweb.js", script([], ["/form-sending.js"])],
        ["/counter.js", script(["/chart.js"], ["/dialog.js"])],
        ["/chart.js", script(["/deep.js"])],
        ["/deep.js", script(["/chart.js"])],
        ["/dialog.js", script(["/deep.js", "/dialog-part.js"])],
        ["/other.js", script([], ["/chart.js"])],
        ["/menu.js", script()],
      ]),
    },
  });
}

describe("the files of a page", () => {
  it("are the page script, those of its views with all that they import, and the style sheets, each once", () => {
    const [files] = filesOf([page("/", [VIEW])]);
    expect(files?.scripts.toSorted()).toEqual(["/chart.js", "/counter.js", "/deep.js", "/islands.js", "/tsweb.js"]);
    expect(files?.styles).toEqual(["/all.css", "/pages.css"]);
  });

  it("loaded on demand are those of dynamic imports that are not loaded at first", () => {
    const [both, one] = filesOf([page("/", [VIEW, OTHER]), page("/other", [OTHER])]);
    expect(both?.later.toSorted()).toEqual(["/dialog-part.js", "/dialog.js", "/form-sending.js"]);
    expect(one?.later.toSorted()).toEqual(["/chart.js", "/deep.js", "/form-sending.js"]);
  });

  it("have no script without views", () => {
    expect(filesOf([page("/")])).toMatchObject([{ scripts: [], later: [] }]);
  });

  it("include those of the views of the layout, unless the page has its own", () => {
    const [first, second] = filesOf([page("/"), page("/own", [], { hasOwnLayout: true })], [LAYOUT_VIEW]);
    expect(first?.scripts).toContain("/menu.js");
    expect(second?.scripts).toEqual([]);
  });
});

const sizes: Record<string, number> = {
  "/islands.js": 1000,
  "/tsweb.js": 5000,
  "/counter.js": 700,
  "/chart.js": 20_000,
  "/deep.js": 45,
  "/other.js": 40,
  "/all.css": 1049,
  "/pages.css": 2000,
};

const tableOf = (pages: readonly ReturnType<typeof page>[]) =>
  pageTable(sizesOfPages(filesOf(pages), (path) => sizes[path] ?? 0));

describe("the table of pages", () => {
  it("has aligned columns, the largest page first, and a dash for nothing", () => {
    const noStyles = { file: "src/plain.server.tsx", hasOwnLayout: true };
    expect(tableOf([page("/z"), page("/a", [], noStyles), page("/users/:id", [VIEW]), page("/o", [OTHER])])).toBe(
      "  What browsers load at most, with gzip:\n" +
        "  Page          Script    Style   On demand\n" +
        "  /users/:id   26.7 kB   3.0 kB           –\n" +
        "  /o            6.0 kB   3.0 kB     20.0 kB\n" +
        "  /z                 –   3.0 kB           –\n" +
        "  /a                 –   1.0 kB           –\n",
    );
  });

  it("has no column for what is loaded on demand if nothing is", () => {
    expect(tableOf([page("/z"), page("/b")])).toBe(
      "  What browsers load at most, with gzip:\n" +
        "  Page   Script    Style\n" +
        "  /b          –   3.0 kB\n" +
        "  /z          –   3.0 kB\n",
    );
  });

  it("names a page without a written path by its export and location", () => {
    expect(tableOf([page("/", [], { path: undefined })])).toContain("\n  home (src/pages.server.tsx:1)   ");
  });

  it("shows less than 50 bytes as 0.1 kB, and not as nothing", () => {
    const [files] = filesOf([page("/")]);
    expect(files && pageTable(sizesOfPages([files], (path) => (path === "/all.css" ? 3 : 0)))).toContain("0.1 kB");
  });

  it("lists the 30 largest pages, and counts the others", () => {
    const lines = tableOf(Array.from({ length: 33 }, (_, index) => page(`/${index}`))).split("\n");
    expect(lines).toHaveLength(34);
    expect(lines.at(-2)).toBe("  and 3 smaller pages");
  });

  it("is empty for an application without pages", () => {
    expect(tableOf([])).toBe("");
  });
});
