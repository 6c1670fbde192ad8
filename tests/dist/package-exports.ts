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

/** Imports an entry point in a process of its own, and returns the names of its values. */
export function exportedValues(entryPoint: string, condition = "default"): string[] {
  const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(entryPoint)}))))`;
  const args = ["--conditions", condition, "--input-type=module", "--eval", script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: repository, encoding: "utf8" })).sort();
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
