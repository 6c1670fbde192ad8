/**
 * What the built package lets others import: read from `dist/` through `package.json`, as they do.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vite";
import { repository } from "#test/copy-example";

const { exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));

/** The addresses of all doors: `tsweb`, `tsweb/browser` and so on. */
export const doors: readonly string[] = Object.keys(exports).map((path) => path.replace(".", "tsweb"));

/** Imports a door in a Node of its own, and gives the names of what it exports. */
export function valuesOf(door: string, condition = "default"): string[] {
  const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(door)}))))`;
  const args = ["--conditions", condition, "--input-type=module", "--eval", script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: repository, encoding: "utf8" })).sort();
}

/** Gives the names that a door exports without importing it: what runs in a page asks for its document. */
export function writtenValuesOf(door: string): string[] {
  return namesIn(fileOf(door, "default"), "js").sort();
}

/** Gives the names of the types that a door exports, beside those of its values. */
export function typesOf(door: string): string[] {
  const file = fileOf(door, "types");
  const values = new Set(namesIn(file.replace(/\.d\.ts$/, ".js"), "js"));
  return namesIn(file, "ts")
    .filter((name) => !values.has(name))
    .sort();
}

function fileOf(door: string, condition: string): string {
  return join(repository, exports[door.replace("tsweb", ".")][condition]);
}

/** Reads the names that a module exports by `export { … }` and by `export` before a declaration. */
function namesIn(file: string, lang: "js" | "ts"): string[] {
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
