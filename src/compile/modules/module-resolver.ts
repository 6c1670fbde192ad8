import { type ImportedName, type Node, unwrapExpression } from "../syntax/index.ts";
import type { ModuleFacts } from "./module-facts.ts";

/** Finds and reads the modules of a project, for checks that follow imports. */
export interface ModuleResolver {
  /** The project's root, absolute, with forward slashes. */
  readonly root: string;
  /** Resolves a specifier to a module id; `undefined` when there is no such module. */
  readonly resolve: (specifier: string, importer: string) => Promise<string | undefined>;
  /** Reads a module by its id; `undefined` when it is not a script of the project or cannot be read. */
  readonly read: (id: string | undefined) => Promise<ModuleFacts | undefined>;
}

/** The module and the name in it that an export refers to, after re-exports have been followed. */
export interface ResolvedExport {
  readonly facts: ModuleFacts;
  /** The exported name in that module. */
  readonly name: string;
}

/**
 * Follows an export through re-exports to the module that declares it.
 *
 * @returns `undefined` when it cannot be resolved, as for an export of an installed package
 */
export async function resolveExport(
  id: string | undefined,
  name: string,
  resolver: ModuleResolver,
  depth = 0,
): Promise<ResolvedExport | undefined> {
  // Two modules that re-export each other would be followed forever.
  if (depth > 16) return undefined;
  const facts = await resolver.read(id);
  if (!facts) return undefined;
  const entry = facts.exports.named.find((exported) => exported.name === name);
  if (entry?.from) {
    const from = await resolver.resolve(entry.from.source, facts.source.file);
    return resolveExport(from, entry.from.name, resolver, depth + 1);
  }
  if (entry) return { facts, name };
  for (const star of facts.exports.starExports) {
    const from = await resolver.resolve(star.source, facts.source.file);
    const resolved = await resolveExport(from, name, resolver, depth + 1);
    if (resolved) return resolved;
  }
  return undefined;
}

/**
 * Follows an import through re-exports of the project's modules.
 *
 * @param importer the file that contains the import
 * @returns the import that leads out of the project, such as `redirect` of `tsweb`, or the last one that could be followed
 */
export async function originOf(
  imported: ImportedName,
  importer: string,
  resolver: ModuleResolver,
  depth = 0,
): Promise<ImportedName> {
  // Two modules that re-export each other would be followed forever.
  if (imported.source === "tsweb" || depth > 16) return imported;
  const facts = await resolver.read(await resolver.resolve(imported.source, importer));
  if (!facts) return imported;
  const entry = facts.exports.named.find((exported) => exported.name === imported.name);
  if (entry) return entry.from ? originOf(entry.from, facts.source.file, resolver, depth + 1) : imported;
  for (const { source } of facts.exports.starExports) {
    const origin = await originOf({ source, name: imported.name }, facts.source.file, resolver, depth + 1);
    if (origin.source === "tsweb") return origin;
  }
  return imported;
}

/** Returns the value of an export: of a declaration, a variable or `export default`. */
export function exportedValue({ facts, name }: ResolvedExport): Node | undefined {
  const { exports, scopes, program } = facts;
  const local = exports.named.find((exported) => exported.name === name)?.local;
  const [declared] =
    local === undefined
      ? program.body.flatMap((node) => (node.type === "ExportDefaultDeclaration" ? [node.declaration] : []))
      : (scopes.module.findValue(local)?.declarations ?? []);
  const value = declared?.type === "VariableDeclarator" ? declared.init : declared;
  return value ? unwrapExpression(value) : undefined;
}
