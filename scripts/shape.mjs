// Counts the shape of src/: files and their lines, what is used by one other file, walks over syntax trees, and the steps of
// the lists in CONTRIBUTING.md. `npm run shape` prints a table; `npm run shape -- --json` prints the figures as JSON, and
// `-- --files` lists the files with one importer, the shortest first.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAst } from "vite";
import { requireNode, root } from "./setup.mjs";

requireNode();
// The pages of the panel are an application of their own.
const isSource = (path) =>
  /\.tsx?$/.test(path) && !/\.(test(-d)?|d)\.tsx?$/.test(path) && !path.startsWith(join("src", "panel", "app"));
const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((path) => join("src", path))
  .filter(isSource);
const files = new Map(paths.map((path) => [path, readSource(path)]));

/** Returns the lines of a file, its imports as `[file, names]`, the names that it exports, and its walks over syntax trees. */
function readSource(path) {
  const text = readFileSync(join(root, path), "utf8");
  const { body } = parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  const imports = body.filter(({ source }) => source?.value.startsWith(".")).map((node) => importOf(path, node));
  for (const [, specifier] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g)) {
    imports.push({ file: join(dirname(path), specifier), names: ["*"] });
  }
  const walks = [...text.matchAll(/(?<!function )\bwalk(Scoped)?\(/g)].length;
  return { lines: text.split("\n").length - 1, imports, exports: body.flatMap(exportsOf), walks };
}

function importOf(path, { type, source, specifiers = [] }) {
  const isWhole =
    type === "ExportAllDeclaration" || specifiers.some((each) => each.type === "ImportNamespaceSpecifier");
  const names = isWhole ? ["*"] : specifiers.map((each) => (each.imported ?? each.local)?.name ?? "default");
  return { file: join(dirname(path), source.value), names };
}

function exportsOf({ type, source, declaration, specifiers = [] }) {
  if (type === "ExportDefaultDeclaration") return ["default"];
  if (type !== "ExportNamedDeclaration" || source) return []; // a re-export has its own file
  if (!declaration) return specifiers.map(({ exported }) => exported.name);
  return (declaration.declarations ?? [declaration]).flatMap(({ id }) => (id?.name ? [id.name] : []));
}

/** The files that import each file, and those that use each export: "file name" is the key of an export. */
const importers = new Map(paths.map((path) => [path, new Set()]));
const users = new Map(
  [...files].flatMap(([path, { exports }]) => exports.map((name) => [`${path} ${name}`, new Set()])),
);
for (const [path, { imports }] of files) {
  for (const { file, names } of imports) {
    importers.get(file)?.add(path);
    const used = names.includes("*") ? (files.get(file)?.exports ?? []) : names;
    for (const name of used) users.get(`${file} ${name}`)?.add(path);
  }
}

/** The numbered lists of "Four paths through the code": the steps and the files of each. */
function listedPaths() {
  const lists = [];
  let last = 0;
  for (const [, number, file] of readFileSync(join(root, "CONTRIBUTING.md"), "utf8").matchAll(
    /^(\d+)\. `(src\/\S+)`/gm,
  )) {
    if (Number(number) <= last || last === 0) lists.push([]);
    lists.at(-1).push(file);
    last = Number(number);
  }
  return lists.map((list) => `${list.length} steps in ${new Set(list).size} files`);
}

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
const lines = [...files.values()].map((file) => file.lines);
const withOneImporter = paths.filter((path) => importers.get(path).size === 1 && !path.endsWith("/index.ts"));
const folders = new Map();
for (const path of paths) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
const largest = [...folders].toSorted(([, one], [, other]) => other - one).slice(0, 5);
const figures = {
  files: paths.length,
  lines: lines.reduce((sum, count) => sum + count, 0),
  "median lines": percentile(lines, 0.5),
  "90% have at most": percentile(lines, 0.9),
  "longest file": Math.max(...lines),
  "files with one importer": withOneImporter.length,
  "of these, at most 60 lines": withOneImporter.filter((path) => files.get(path).lines <= 60).length,
  exports: users.size,
  "exports used by one other file": [...users.values()].filter((set) => set.size === 1).length,
  "walks over syntax trees": [...files.values()].reduce((sum, { walks }) => sum + walks, 0),
  "largest folders": largest.map(([folder, count]) => `${folder} ${count}`).join(", "),
  "paths through the code": listedPaths().join("; "),
};

if (process.argv.includes("--json")) console.log(JSON.stringify(figures, null, 2));
else for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(32)}${value}`);
if (process.argv.includes("--files")) {
  for (const path of withOneImporter.toSorted((a, b) => files.get(a).lines - files.get(b).lines)) {
    console.log(`${String(files.get(path).lines).padStart(4)} ${path} ← ${[...importers.get(path)].join()}`);
  }
}
