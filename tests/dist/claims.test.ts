/** The claims of docs/security.md: each row cites tests by the ids at the end of their titles, such as `[SESSION-1]`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { testTitles } from "./test-titles.ts";

interface Claim {
  readonly claim: string;
  readonly ids: readonly string[];
  /** The contents of the second cell besides ids and the `,` between them. */
  readonly rest: string;
}

const CITED_ID = /`([A-Z]+-\d+)`/g;

/** Returns the rows of all tables with two columns whose second heading is `test`. */
function claimsIn(markdown: string): Claim[] {
  const rows = [...markdown.matchAll(/^\| (?!claim |---)(?<claim>[^|]+) \| (?<cell>[^|]+) \|$/gm)];
  return rows.map(({ groups: { claim = "", cell = "" } = {} }) => ({
    claim,
    ids: [...cell.matchAll(CITED_ID)].map(([, id = ""]) => id),
    rest: cell.replace(CITED_ID, "").replaceAll(/[,\s]/g, ""),
  }));
}

/** Returns the id at the end of each title that has one. */
function idsIn(titles: readonly string[]): string[] {
  return titles.flatMap((title) => /\[([A-Z]+-\d+)\]$/.exec(title)?.[1] ?? []);
}

const markdown = readFileSync(join(repository, "docs/security.md"), "utf8");
const claims = claimsIn(markdown);

/** Files that Vitest runs, and those of the suites that such files run. */
const TEST_FILE = /\.test\.tsx?$|^tests\/(engines\/[\w-]+|conformance\/(rate|(wire|bus)\/[\w-]+))\.ts$/;

const files = ["src", "tests"]
  .flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((file) => TEST_FILE.test(file) && !/node_modules|fixtures/.test(file));
const texts = files.map((file) => readFileSync(join(repository, file), "utf8"));
const ids = texts.filter((text) => /\[[A-Z]+-\d+\]/.test(text)).flatMap((text) => idsIn(testTitles(text)));

describe("docs/security.md", () => {
  it("has only table rows with a claim and its citations", () => {
    const tables = markdown.split("\n\n").filter((block) => block.startsWith("| claim | test |\n"));
    const rows = tables.flatMap((table) => table.trim().split("\n").slice(2));
    expect(claims).toHaveLength(rows.length);
    expect(claims.length).toBeGreaterThan(25);
  });

  it.each(claims)("cites at least one test for: $claim", ({ ids: cited, rest }) => {
    expect(rest).toBe("");
    expect(cited.filter((id) => ids.includes(id))).not.toEqual([]);
    expect(
      cited.filter((id) => !ids.includes(id)),
      "ids that no test has",
    ).toEqual([]);
  });
});

it("each id of a test is that of no other test, and is cited", () => {
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const cited = new Set(claims.flatMap((claim) => claim.ids));
  expect(ids.filter((id) => !cited.has(id))).toEqual([]);
});

describe("testTitles", () => {
  it("returns the titles of tests, and no comments, other strings or titles of describe", () => {
    const code = [
      '// it("a comment", () => {});',
      "const text = 'it(\"a string\")';",
      'describe("a group", () => {',
      '  it("one", () => call("an argument"));',
      '  it.each([1])("each %i", () => {});',
      '  it.runIf(true)("run if", () => {});',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a test file
      "  test(`with ${COUNT} values`, { timeout: 1 }, () => {});",
      '  it("one", () => {});',
      "});",
      "const rejects = (title: string, status: number) => wireCase(title, async () => {});",
      "const responds = (path: string) => wireCase(`responds to it`, async () => {});",
      'export const cases = [wireCase("a wire case", work), rejects("a helper", 400), responds("/a"), other("none")];',
    ].join("\n");
    expect(testTitles(code)).toEqual([
      "one",
      "each %i",
      "run if",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a test file
      "with ${COUNT} values",
      "one",
      "responds to it",
      "a wire case",
      "a helper",
    ]);
  });
});

describe("claimsIn", () => {
  it("returns all ids of a claim, and any other text in their cell", () => {
    const [two, prose] = claimsIn("| A. | `CSRF-1`, `SITE-12` |\n| B. | see the code |");
    expect(two).toMatchObject({ ids: ["CSRF-1", "SITE-12"], rest: "" });
    expect(prose).toMatchObject({ ids: [], rest: "seethecode" });
  });
});

describe("idsIn", () => {
  it("returns the ids at the end of titles only", () => {
    expect(idsIn(["rejects it [CSRF-1]", "[CSRF-2] rejects it", "rejects [it]", "rejects it"])).toEqual(["CSRF-1"]);
  });
});
