/** Citations in code, tests and documents name files and sections that exist. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /\.(ts|tsx|mjs|md|sh|json|jsonc)$/.test(file) && existsSync(join(root, file)));
const isOwn = (file: string) => file === "tests/docs/citations.test.ts";
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** The numbers of the sections of docs/protocol.md, as they stand in its headings. */
const sections = new Set(
  [...read("docs/protocol.md").matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(([, number]) => number as string), // the group always matches
);

interface Citation {
  readonly where: string;
  readonly number: string;
}

/** Returns each section that a text cites: `docs/protocol.md 10.2`, or several: `docs/protocol.md 10.8 and 10.10`. */
function citationsIn(file: string, text: string): Citation[] {
  return [
    ...text.matchAll(/docs\/protocol\.md(?:,? sections?)? (\d+(?:\.\d+)?(?:(?:, | and |, and )\d+(?:\.\d+)?)*)/g),
  ].flatMap(({ 1: numbers = "", index }) => {
    const line = text.slice(0, index).split("\n").length;
    return numbers.split(/, and |, | and /).map((number) => ({ where: `${file}:${line}`, number }));
  });
}

/** Returns the anchor that a Markdown renderer gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

describe("a citation of docs/protocol.md", () => {
  test("names a section that exists", () => {
    const citations = files.filter((file) => !isOwn(file)).flatMap((file) => citationsIn(file, read(file)));
    expect(citations.length).toBeGreaterThan(50);
    expect(citations.filter(({ number }) => !sections.has(number))).toEqual([]);
  });

  test("of several sections is read as each of them", () => {
    expect(citationsIn("a.ts", "\n@see docs/protocol.md 10.8 and 10.10, and 3").map(({ number }) => number)).toEqual([
      "10.8",
      "10.10",
      "3",
    ]);
    expect(citationsIn("a.ts", "docs/protocol.md 99.1")).toEqual([{ where: "a.ts:1", number: "99.1" }]);
    expect(sections.has("99.1")).toBe(false);
  });
});

test("the sections of docs/protocol.md are numbered consecutively", () => {
  const numbers = [...read("docs/protocol.md").matchAll(/^#{2,3} (\d+)(?:\.(\d+))?\.? /gm)].map(
    ({ 1: major, 2: minor }) => [Number(major), minor === undefined ? 0 : Number(minor)],
  );
  let [major, minor] = [0, 0];
  for (const [nextMajor, nextMinor] of numbers) {
    const isNextSection = nextMajor === major + 1 && nextMinor === 0;
    const isNextSubsection = nextMajor === major && nextMinor === minor + 1;
    expect(isNextSection || isNextSubsection, `${nextMajor}.${nextMinor} follows ${major}.${minor}`).toBe(true);
    [major, minor] = [nextMajor as number, nextMinor as number]; // both are numbers of the list above
  }
});

test("no file cites a document that is not in the repository", () => {
  const unknown = files
    .filter((file) => !isOwn(file))
    .flatMap((file) => {
      const matches = [
        ...read(file).matchAll(/\bthe interface(?:'s|,)|\bthe design(?:'s|,)? section|@see the (?:interface|design)/gi),
      ];
      return matches.map(([text]) => `${file}: ${text}`);
    });
  expect(unknown).toEqual([]);
});

const INSTALLED_PACKAGE = /^template\/node_modules\/tsweb\//;

test("every file and every heading that a document links to exists", () => {
  const broken: string[] = [];
  for (const file of files.filter((each) => each.endsWith(".md") && !each.startsWith("tests/"))) {
    for (const [, target = ""] of read(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      // In a project of the template, the package is installed in node_modules/tsweb/.
      const linked = path === "" ? file : normalize(join(dirname(file), path)).replace(INSTALLED_PACKAGE, "");
      const isExisting = existsSync(join(root, linked));
      if (!isExisting) broken.push(`${file}: ${target}`);
      if (!isExisting || anchor === undefined) continue;
      const anchors = [...read(linked).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
      if (!anchors.includes(anchor)) broken.push(`${file}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});
