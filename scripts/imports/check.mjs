// Checks the imports in src/ against table.mjs, and the graph in CONTRIBUTING.md against the same table.
//
//   npm run imports                       checks
//   npm run imports -- --write            writes the graph into CONTRIBUTING.md
//   npm run imports -- --root <folder>    checks another copy of the repository
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cruise } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { withGraph } from "./graph.mjs";
import { rules } from "./rules.mjs";
import { isAbove, isTypesOnly, MAY_IMPORT, nameOf, partOf, parts, TABLE } from "./table.mjs";

const { values } = parseArgs({ options: { write: { type: "boolean" }, root: { type: "string" } } });
process.chdir(resolve(values.root ?? join(import.meta.dirname, "../..")));

const document = readFileSync("CONTRIBUTING.md", "utf8");
const expected = withGraph(document);
if (values.write) writeFileSync("CONTRIBUTING.md", expected);

const { output } = await cruise(
  ["src"],
  {
    validate: true,
    ruleSet: { forbidden: rules().map((rule) => ({ severity: "error", ...rule })) },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/panel/app/" }, // an application of its own
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["types", "import", "node", "default"] },
  },
  undefined,
  { tsConfig: extractTSConfig("tsconfig.json") },
);
const modules = output.modules.filter(({ source }) => source.startsWith("src/"));
if (modules.length === 0) throw new Error(`${resolve("src")} has no TypeScript files.`);

const problems = [
  ...output.summary.violations.map(describeViolation),
  ...findWrongRows(),
  ...findUnlistedFiles(),
  ...findUnusedEntries(),
  ...(values.write || document === expected
    ? []
    : [`CONTRIBUTING.md shows other arrows than ${TABLE}.\n    Run npm run imports -- --write.`]),
];
for (const problem of problems) console.error(`${problem}\n`);
console.log(
  `${modules.length} files, ${output.summary.totalDependenciesCruised} imports, ${problems.length} problems.`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

function describeViolation({ from, to, rule, cycle }) {
  const path = cycle ? cycle.map(({ name }) => name).join(" → ") : to;
  const { comment } = rules().find(({ name }) => name === rule.name);
  return `${from} → ${path}\n    Rule: ${rule.name}\n    Fix: ${comment}`;
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
  const files = modules.map(({ source }) => source).filter((source) => partOf(source) === undefined);
  return files.map(
    (file) => `${file} belongs to no part of src/.\n    Move it into a folder that has a row in ${TABLE}.`,
  );
}

/** Returns a problem for each entry that no import needs. The graph would show an arrow without an import. */
function findUnusedEntries() {
  const used = new Set();
  for (const { source, dependencies } of modules) {
    if (/\.test(-d)?\.tsx?$/.test(source)) continue;
    for (const { resolved, dependencyTypes } of dependencies) {
      const isType = dependencyTypes.some((type) => type === "type-only" || type === "type-import");
      used.add(`${partOf(source)} ${partOf(resolved)}${isType ? " (types)" : ""}`);
    }
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
