// The allowed imports between the parts of src/ as a Mermaid graph, in Markdown.
import { isAbove, MAY_IMPORT, nameOf, parts } from "./table.mjs";

const START = "<!-- Generated from scripts/imports/table.mjs by `npm run imports -- --write`; do not edit. -->";
const END = "<!-- End of the generated part. -->";

/**
 * Returns the document with the generated part between its two markers replaced.
 *
 * @throws Error when the document lacks the markers
 */
export function withGraph(document) {
  const [start, end] = [document.indexOf(START), document.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`CONTRIBUTING.md lacks these two lines:\n${START}\n${END}`);
  return `${document.slice(0, start)}${START}\n\n${graph()}\n${document.slice(end)}`;
}

function graph() {
  const arrows = parts
    .map((part) => [part, directEntries(part).map(nameOf)])
    .filter(([, entries]) => entries.length > 0)
    .map(([part, entries]) => `${part} --> ${entries.join(" & ")}`);
  return `\`\`\`mermaid\nflowchart TD\n${inLines(arrows).join("\n")}\n\`\`\`\n`;
}

/** Returns lines of at most 120 characters with as many statements as possible. */
function inLines(statements) {
  const lines = [];
  for (const statement of statements) {
    const joined = `${lines.at(-1)}; ${statement}`;
    if (lines.length > 0 && joined.length <= 120) lines[lines.length - 1] = joined;
    else lines.push(`  ${statement}`);
  }
  return lines;
}

/** Returns the entries of a part that cannot be reached through its other entries. */
function directEntries(part) {
  return MAY_IMPORT[part].filter(
    (entry) =>
      !MAY_IMPORT[part].some(
        (other) => other !== entry && isAbove(nameOf(other), part) && reaches(nameOf(other), nameOf(entry)),
      ),
  );
}

/** Returns whether a part leads to another one. Follows only entries above their part: others could form a cycle. */
function reaches(part, name) {
  const next = MAY_IMPORT[part].map(nameOf).filter((other) => isAbove(other, part));
  return next.includes(name) || next.some((other) => reaches(other, name));
}
