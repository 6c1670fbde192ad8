/**
 * The exports of the built package, read from `dist/` through `package.json` as its users do.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAst } from "vite";
import { repository } from "#test/copy-example";

const { exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));

/** The names of all entry points: `tsweb`, `tsweb/browser` and so on. */
export const entryPoints: readonly string[] = Object.keys(exports).map((path) => path.replace(".", "tsweb"));

/** The names of the values of all entry points under a condition, by entry point. */
const valuesByCondition = new Map<string, Readonly<Record<string, string[]>>>();

/** Entry points for pages, whose scripts need a document. */
const FOR_PAGES = ["tsweb/stub", "tsweb/forms", "tsweb/styles", "tsweb/selects", "tsweb/islands"];

/** Imports the entry points under a condition in a process of its own, and returns the names of the values of one. */
export function exportedValues(entryPoint: string, condition = "default"): string[] {
  const values = valuesByCondition.get(condition) ?? importAll(condition);
  valuesByCondition.set(condition, values);
  const names = values[entryPoint];
  if (!names) throw new Error(`${entryPoint} is not imported under the condition ${condition}.`);
  return names;
}

function importAll(condition: string): Readonly<Record<string, string[]>> {
  // Under the condition of browsers, Node can import only those that pages and views share with it.
  const names = entryPoints.filter((name) => !FOR_PAGES.includes(name) && name !== "tsweb/package.json");
  const imported = condition === "browser" ? ["tsweb/browser", "tsweb/jsx-runtime"] : names;
  const script = `const values = {};
    for (const name of ${JSON.stringify(imported)}) values[name] = Object.keys(await import(name)).sort();
    console.log(JSON.stringify(values));`;
  const args = ["--conditions", condition, "--input-type=module", "--eval", script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: repository, encoding: "utf8" }));
}

/** Returns the names of an entry point's values without importing it: code for a page needs its document. */
export function declaredValues(entryPoint: string): string[] {
  return exportedNames(fileOf(entryPoint, "default"), "js").sort();
}

/** Returns the names of an entry point's types, without those of its values. */
export function exportedTypes(entryPoint: string): string[] {
  const file = fileOf(entryPoint, "types");
  const values = new Set(exportedNames(file.replace(/\.d\.ts$/, ".js"), "js"));
  return exportedNames(file, "ts")
    .filter((name) => !values.has(name))
    .sort();
}

function fileOf(entryPoint: string, condition: string): string {
  return join(repository, exports[entryPoint.replace("tsweb", ".")][condition]);
}

/** Returns the names that a module exports by `export { … }` and by `export` before a declaration. */
function exportedNames(file: string, lang: "js" | "ts"): string[] {
  const { body } = parseAst(readFileSync(file, "utf8"), { lang });
  return body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration") return [];
    const listed = statement.specifiers.map(({ exported }) =>
      exported.type === "Identifier" ? exported.name : String(exported.value),
    );
    const { declaration } = statement;
    return declaration && "id" in declaration && declaration.id && "name" in declaration.id
      ? [...listed, declaration.id.name]
      : listed;
  });
}

/** Returns the texts of declaration files, by their names below `dist/`. */
export function declarationFiles(...names: readonly string[]): string[] {
  return names.map((name) => readFileSync(join(repository, "dist", name), "utf8"));
}

/**
 * Returns the names of the public members of an exported class, sorted. A member whose name is computed is returned
 * as it is written.
 *
 * @throws Error when the entry point does not export the class
 */
export function classMembers(entryPoint: string, name: string): string[] {
  const file = fileOf(entryPoint, "types");
  const source = new RegExp(`${name}\\b[^}]*} from "(.+?)"`).exec(readFileSync(file, "utf8"))?.[1];
  if (!source) throw new Error(`${entryPoint} does not export ${name}.`);
  const code = readFileSync(join(dirname(file), source.replace(/\.ts$/, ".d.ts")), "utf8");
  for (const statement of parseAst(code, { lang: "ts" }).body) {
    if (statement.type !== "ExportNamedDeclaration" || statement.declaration?.type !== "ClassDeclaration") continue;
    if (statement.declaration.id?.name !== name) continue;
    const keys = statement.declaration.body.body.flatMap((member) => ("key" in member ? [member.key] : []));
    return keys
      .map(({ start, end }) => code.slice(start, end))
      .filter((key) => !key.startsWith("#") && key !== "constructor")
      .sort();
  }
  throw new Error(`${source} declares no class ${name}.`);
}
