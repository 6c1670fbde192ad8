// Writes results into docs/benchmarks.md, between two comments that name the part.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, root } from "../../scripts/setup.mjs";

const file = join(root, "docs", "benchmarks.md");

const pattern = (part) => new RegExp(`(<!-- results of ${part} -->\n).*?(\n<!-- end of results -->)`, "s");

/** Exits with a message if the document has no such part. */
export function checkPart(part) {
  const text = readFileSync(file, "utf8");
  if (pattern(part).test(text)) return;
  const parts = [...text.matchAll(/<!-- results of (.*?) -->/g)].map(([, name]) => name);
  fail(`--write: docs/benchmarks.md has no part for “${part}”. It has: ${parts.join(", ")}.`);
}

/** Replaces a part of the document. Its headings become those of a section of the document. */
export function writePart(part, results) {
  const text = readFileSync(file, "utf8");
  const section = results.replace(/^#/gm, "##");
  writeFileSync(
    file,
    text.replace(pattern(part), (_, start, end) => `${start}\n${section}\n${end}`),
  );
}
