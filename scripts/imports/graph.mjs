// The allowed imports between the parts of src/ as a Mermaid graph and as a table, in Markdown.
import { isAbove, MAY_IMPORT, nameOf, parts, SHARED } from "./table.mjs";

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
  const listed = new Set(parts.flatMap((part) => MAY_IMPORT[part].map(nameOf)));
  const drawn = parts.filter((part) => listed.has(part) || MAY_IMPORT[part].length > 0);
  const id = (part) => part.replace(/\W/g, "_");
  const nodes = drawn.map((part) => `  ${id(part)}["${part}"]`);
  const arrows = drawn.flatMap((part) => directEntries(part).map((entry) => `  ${id(part)} --> ${id(nameOf(entry))}`));
  const rows = parts.map((part) => `| \`${part}\` | ${MAY_IMPORT[part].join(", ")} |`);
  return `\`\`\`mermaid
flowchart TD
${[...nodes, ...arrows].join("\n")}
\`\`\`

Imports follow the arrows; a direct arrow is left out where a longer path exists. All parts may import ${SHARED.join(" and ")}.

<details><summary>All allowed imports</summary>

| part of src/ | may import |
| --- | --- |
${rows.join("\n")}

</details>
`;
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
