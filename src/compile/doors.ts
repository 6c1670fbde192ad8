import type { ESTree } from "vite";
import { CompileError, type Source } from "./errors.ts";
import { specifierName } from "./walk.ts";

/** What only one of the two doors has. Types are not here: a checker of types tells of those. */
const ONLY: readonly (readonly [door: string, names: readonly string[]])[] = [
  ["tsweb/browser", ["view", "state", "on_mount", "on_unmount", "subscribe"]],
  ["tsweb", ["App", "server", "page", "route", "request", "session", "redirect", "Head", "NotFound"]],
  ["tsweb", ["channel", "publish", "realtime", "ConfigError", "SerializeError", "ValueError"]],
];

const HOME = new Map(ONLY.flatMap(([door, names]) => names.map((name) => [name, door] as const)));

const DOORS: ReadonlySet<string> = new Set(HOME.values());

/**
 * Refuses a name that is asked for at the wrong one of the two doors, `tsweb` and `tsweb/browser`: at run
 * time it would be undefined, and whatever uses it first would fail, elsewhere.
 *
 * @throws CompileError at the name
 */
export function checkDoors(program: ESTree.Program, source: Source): void {
  for (const node of program.body) {
    if (node.type !== "ImportDeclaration" || node.importKind === "type" || !DOORS.has(node.source.value)) continue;
    for (const specifier of node.specifiers) {
      if (specifier.type !== "ImportSpecifier" || specifier.importKind === "type") continue;
      const name = specifierName(specifier.imported);
      const home = HOME.get(name);
      if (home === undefined || home === node.source.value) continue;
      throw new CompileError(`${name} comes from "${home}", not from "${node.source.value}".`, source, specifier);
    }
  }
}
