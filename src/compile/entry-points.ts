import type { ESTree } from "vite";
import { CompileError, type SourceFile, specifierName } from "./syntax/index.ts";

/** The values that only one of the two entry points exports. Types are not listed: the type checker reports those. */
const EXPORTS: readonly (readonly [entryPoint: string, names: readonly string[]])[] = [
  ["tsweb/browser", ["view", "state", "on_mount", "on_unmount", "subscribe"]],
  ["tsweb", ["App", "server", "page", "route", "request", "session", "redirect", "once", "Head", "NotFound"]],
  [
    "tsweb",
    ["channel", "publish", "realtime", "project_path", "send_file", "ConfigError", "SerializeError", "ValueError"],
  ],
];

const ENTRY_POINT_OF = new Map(
  EXPORTS.flatMap(([entryPoint, names]) => names.map((name) => [name, entryPoint] as const)),
);

const ENTRY_POINTS: ReadonlySet<string> = new Set(ENTRY_POINT_OF.values());

/**
 * Rejects an import from the wrong one of the two entry points, `tsweb` and `tsweb/browser`. At run time the name
 * would be undefined, and the error would occur where it is used.
 *
 * @throws CompileError at the import specifier
 */
export function checkEntryPoints(program: ESTree.Program, source: SourceFile): void {
  for (const node of program.body) {
    if (node.type !== "ImportDeclaration" || node.importKind === "type" || !ENTRY_POINTS.has(node.source.value))
      continue;
    for (const specifier of node.specifiers) {
      if (specifier.type !== "ImportSpecifier" || specifier.importKind === "type") continue;
      const name = specifierName(specifier.imported);
      const entryPoint = ENTRY_POINT_OF.get(name);
      if (entryPoint === undefined || entryPoint === node.source.value) continue;
      throw new CompileError(
        `"${node.source.value}" does not export ${name}. Import it from "${entryPoint}".`,
        source,
        specifier,
      );
    }
  }
}
