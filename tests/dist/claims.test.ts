/** The claims of docs/security.md: each row cites tests by file and title, and these tests exist. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { testTitles } from "./test-titles.ts";

interface Citation {
  readonly file: string;
  readonly title: string;
}

interface Claim {
  readonly claim: string;
  readonly citations: readonly Citation[];
  /** The contents of the second cell besides citations and the `;` between them. */
  readonly rest: string;
}

const CITATION = /`(?<file>[^`]+)` · "(?<title>(?:[^"\\]|\\.)+)"/g;

/** Returns the rows of all tables with two columns whose second heading is `shown by`. */
function claimsIn(markdown: string): Claim[] {
  const rows = [...markdown.matchAll(/^\| (?!claim |---)(?<claim>[^|]+) \| (?<cell>[^|]+) \|$/gm)];
  return rows.map(({ groups: { claim = "", cell = "" } = {} }) => ({
    claim,
    citations: [...cell.matchAll(CITATION)].map(({ groups: { file = "", title = "" } = {} }) => ({ file, title })),
    rest: cell.replace(CITATION, "").replaceAll(/[;\s]/g, ""),
  }));
}

const markdown = readFileSync(join(repository, "docs/security.md"), "utf8");
const claims = claimsIn(markdown);

/** Files that Vitest runs, and those of the suites that such files run. */
const TEST_FILE = /^(src|tests)\/.+\.test\.ts$|^tests\/(engines\/[\w-]+|conformance\/(rate|(wire|bus)\/[\w-]+))\.ts$/;

describe("docs/security.md", () => {
  it("has only table rows with a claim and its citations", () => {
    const tables = markdown.split("\n\n").filter((block) => block.startsWith("| claim | test |\n"));
    const rows = tables.flatMap((table) => table.trim().split("\n").slice(2));
    expect(claims).toHaveLength(rows.length);
    expect(claims.length).toBeGreaterThan(25);
  });

  it.each(claims)("cites existing tests for: $claim", ({ citations, rest }) => {
    expect(rest).toBe("");
    expect(citations).not.toEqual([]);
    for (const { file, title } of citations) {
      expect(file).toMatch(TEST_FILE);
      expect(existsSync(join(repository, file)), file).toBe(true);
      expect([...testTitles(readFileSync(join(repository, file), "utf8"))]).toContain(title);
    }
  });
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
      "});",
      "const rejects = (title: string, status: number) => wireCase(title, async () => {});",
      "const responds = (path: string) => wireCase(`responds to it`, async () => {});",
      'export const cases = [wireCase("a wire case", work), rejects("a helper", 400), responds("/a"), other("none")];',
    ].join("\n");
    expect([...testTitles(code)]).toEqual([
      "one",
      "each %i",
      "run if",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a test file
      "with ${COUNT} values",
      "responds to it",
      "a wire case",
      "a helper",
    ]);
  });
});

describe("claimsIn", () => {
  it("returns all citations of a claim, and any other text in their cell", () => {
    const [two, prose] = claimsIn('| A. | `a.test.ts` · "x"; `b.test.ts` · "y" |\n| B. | see the code |');
    expect(two?.citations).toHaveLength(2);
    expect(two?.rest).toBe("");
    expect(prose).toMatchObject({ citations: [], rest: "seethecode" });
  });
});
