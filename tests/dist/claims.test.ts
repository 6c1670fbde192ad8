/** The claims of docs/security.md: each names a test, and the test is there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";

const text = readFileSync(join(repository, "docs/security.md"), "utf8");
const rows = [...text.matchAll(/^\| (?<claim>[^|]+) \| `(?<file>[^`]+)` · "(?<title>[^|]+)" \|$/gm)].map(
  ({ groups = {} }) => groups as { claim: string; file: string; title: string },
);

describe("docs/security.md", () => {
  it("has a test behind every claim", () => {
    const claims = [...text.matchAll(/^\| (?!claim |---)/gm)];
    expect(rows.length).toBe(claims.length);
    expect(rows.length).toBeGreaterThan(25);
  });

  it.each(rows)("$claim", ({ file, title }) => {
    expect(readFileSync(join(repository, file), "utf8")).toContain(title);
  });
});
