// The allowed imports between the parts of src/ as a Mermaid graph, which GitHub draws, and as a table.
import { isAbove, MAY_IMPORT, nameOf, parts, SHARED } from "./table.mjs";

const START = "<!-- Generated from scripts/imports/table.mjs by `npm run imports -- --write`; do not edit. -->";
const END = "<!-- End of the generated part. -->";

/**
 * Returns the document with the generated part between its two markers replaced.
 *
 * @throws Error when the document lacks the markers
 */
export function withPicture(document) {
  const [start, end] = [document.indexOf(START), document.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`CONTRIBUTING.md lacks these two lines:\n${START}\n${END}`);
  return `${document.slice(0, start)}${START}\n\n${picture()}\n${document.slice(end)}`;
}

function picture() {
  const listed = new Set(parts.flatMap((part) => MAY_IMPORT[part].map(nameOf)));
  const drawn = parts.filter((part) => listed.has(part) || MAY_IMPORT[part].length > 0);
  const id = (part) => part.replace(/\W/g, "_");
  const nodes = drawn.map((part) => `  ${id(part)}["${part}"]`);
  const arrows = drawn.flatMap((part) => directOf(part).map((entry) => `  ${id(part)} --> ${id(nameOf(entry))}`));
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

/** The entries of a part that none of its other entries leads to. */
function directOf(part) {
  return MAY_IMPORT[part].filter(
    (entry) =>
      !MAY_IMPORT[part].some(
        (other) => other !== entry && isAbove(nameOf(other), part) && reaches(nameOf(other), nameOf(entry)),
      ),
  );
}

/** Follows only entries above their part: the check reports the others, and they might lead around for ever. */
function reaches(part, name) {
  const next = MAY_IMPORT[part].map(nameOf).filter((other) => isAbove(other, part));
  return next.includes(name) || next.some((other) => reaches(other, name));
}
