import { expect, it } from "vitest";
import type { PageSize } from "./built-files.ts";
import { budgetWarning, type ExplainedExcess, groupExcesses, pagesOverBudget } from "./index.ts";

function pageOf(script: number, style: number): PageSize {
  const page = { file: "src/pages.server.tsx", line: 7, name: "home", path: "/", hasOwnLayout: false, views: [] };
  return { files: { page, scripts: [], later: [], styles: [] }, script, style, later: 90_000 };
}

const limit = (bytes: number) => ({ bytes, location: "package.json:4:30" });

it("a page exceeds a budget that it is larger than, by scripts and by style sheets, and not by what is loaded on demand", () => {
  const pages = [pageOf(999, 1001), pageOf(1000, 1000), pageOf(1001, 999)];
  const excesses = pagesOverBudget(pages, { script: limit(1000), style: limit(1000) });
  expect(excesses.map(({ page, kind }) => [pages.indexOf(page), kind])).toEqual([
    [0, "style"],
    [2, "script"],
  ]);
  expect(pagesOverBudget(pages, { style: limit(5000) })).toEqual([]);
  expect(pagesOverBudget(pages, {})).toEqual([]);
});

it("the warning about a page has its location, its size, the budget, what is largest, and where to change the budget", () => {
  const largest = [
    { name: "chart.js", bytes: 21_349 },
    { name: "src/chart.tsx", bytes: 1500 },
  ];
  expect(budgetWarning([{ page: pageOf(23_449, 0), kind: "script", limit: limit(20_000), largest }])).toBe(
    "src/pages.server.tsx:7: The page / loads 23.4 kB of scripts; the budget is 20.0 kB.\n" +
      "    The largest: chart.js 21.3 kB, src/chart.tsx 1.5 kB.\n" +
      '    Import less in its views, or change "script" of "budget" (package.json:4:30).',
  );
});

/** A page above a budget of 10 kB, with its files and its largest part. */
function excessOf(
  path: string,
  files: readonly string[],
  largest: number,
  kind: "script" | "style" = "style",
): ExplainedExcess {
  const page = pageOf(11_000, 11_000);
  const all = { ...page.files, page: { ...page.files.page, path }, scripts: files, styles: files };
  return {
    page: { ...page, files: all },
    kind,
    limit: limit(10_000),
    largest: [{ name: "src/style.css", bytes: largest }],
  };
}

it("pages with the same files, or with one part that is larger than the budget, have one warning", () => {
  const groupsOf = (...excesses: ExplainedExcess[]) =>
    groupExcesses(excesses).map((group) => group.map(({ page, kind }) => `${page.files.page.path} ${kind}`));
  expect(groupsOf(excessOf("/a", ["1", "2"], 6000), excessOf("/b", ["2", "1"], 6000))).toEqual([
    ["/a style", "/b style"],
  ]);
  expect(groupsOf(excessOf("/a", ["1", "2"], 6000), excessOf("/b", ["1", "3"], 6000))).toHaveLength(2);
  expect(groupsOf(excessOf("/a", ["1", "2"], 10_001), excessOf("/b", ["1", "3"], 10_001))).toHaveLength(1);
  expect(groupsOf(excessOf("/a", ["1"], 6000, "script"), excessOf("/a", ["1"], 6000))).toHaveLength(2);
});

it("the warning about several pages names the largest in full, three others, and counts the rest", () => {
  const pages = ["/a", "/b", "/c", "/d"].map((path) => excessOf(path, ["1"], 10_001));
  expect(budgetWarning(pages)).toContain("The page /a loads 11.0 kB of style sheets; the budget is 10.0 kB.");
  expect(budgetWarning(pages)).toContain("\n    Also above the budget for this reason: /b, /c, /d.\n");
  expect(budgetWarning([...pages, ...pages])).toContain("for this reason: /b, /c, /d, 4 more.\n");
});
