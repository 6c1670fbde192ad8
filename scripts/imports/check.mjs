// Checks the imports in src/ against table.mjs, and the graph in CONTRIBUTING.md against the same table.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../setup.mjs";
import { withGraph } from "./graph.mjs";
import { findCycles, readModules } from "./modules.mjs";
import { isTest, violationsOf } from "./rules.mjs";
import { isAbove, isTypesOnly, MAY_IMPORT, nameOf, partOf, parts, TABLE } from "./table.mjs";

const { values } = parseArgs({ options: { write: { type: "boolean" }, root: { type: "string" } } });
const checked = resolve(values.root ?? root);
const contributing = join(checked, "CONTRIBUTING.md");

const document = readFileSync(contributing, "utf8");
const expected = withGraph(document);
if (values.write) writeFileSync(contributing, expected);

const { modules, imports } = readModules(checked, ["src", "tests/support"]);
const sources = modules.filter((file) => file.startsWith("src/"));
if (sources.length === 0) throw new Error(`${join(checked, "src")} has no TypeScript files.`);

const problems = [
  ...imports.flatMap((entry) =>
    violationsOf(entry).map(({ rule, fix }) => describe(entry.from, nameOfImported(entry.to), rule, fix)),
  ),
  ...findCycles(imports).map(([first, ...others]) => {
    const fix = "Move what these files share into a file that imports none of them, or pass it as a parameter.";
    return describe(first, others.join(" → "), "no cycles", fix);
  }),
  ...findWrongRows(),
  ...findUnlistedFiles(),
  ...findUnusedEntries(),
  ...(values.write || document === expected
    ? []
    : [`CONTRIBUTING.md shows other arrows than ${TABLE}.\n    Run npm run imports -- --write.`]),
];
for (const problem of problems) console.error(`${problem}\n`);
console.log(`${sources.length} files, ${imports.length} imports, ${problems.length} problems.`);
process.exitCode = problems.length === 0 ? 0 : 1;

function describe(from, to, rule, fix) {
  return `${from} → ${to}\n    Rule: ${rule}\n    Fix: ${fix}`;
}

function nameOfImported(to) {
  return to.replace(/^node_modules\//, "");
}

/** Returns a problem for each row that lists a part below it: such rows could form a cycle. */
function findWrongRows() {
  return parts.flatMap((part) =>
    MAY_IMPORT[part]
      .map(nameOf)
      .filter((name) => !isAbove(name, part))
      .map((name) => `${TABLE}: "${part}" lists "${name}", which is not above it.\n    Reorder the rows.`),
  );
}

/** Returns a problem for each file of src/ that belongs to no row. */
function findUnlistedFiles() {
  return sources
    .filter((file) => partOf(file) === undefined)
    .map((file) => `${file} belongs to no part of src/.\n    Move it into a folder that has a row in ${TABLE}.`);
}

/** Returns a problem for each entry that no import needs. The graph would show an arrow without an import. */
function findUnusedEntries() {
  const used = new Set();
  for (const { from, to, isType } of imports) {
    if (!isTest(from)) used.add(`${partOf(from)} ${partOf(to)}${isType ? " (types)" : ""}`);
  }
  return parts.flatMap((part) =>
    MAY_IMPORT[part]
      .filter((entry) => !used.has(`${part} ${entry}`))
      .map((entry) => {
        const fix =
          !isTypesOnly(entry) && used.has(`${part} ${entry} (types)`) ? `Write "${entry} (types)".` : "Remove it.";
        return `${TABLE}: "${part}" lists "${entry}", but no import needs that.\n    ${fix}`;
      }),
  );
}
