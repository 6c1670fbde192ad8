import type { ESTree } from "vite";
import type { SourceRange } from "./compile-error.ts";
import type { ImportedName, Scope } from "./scope.ts";
import { patternNames } from "./scope.ts";
import { specifierName } from "./walk.ts";

/** One export of a module. */
export interface ExportEntry {
  readonly name: string;
  /** Its name inside the module. Absent for a default expression and a re-export. */
  readonly local?: string;
  /** The export of another module that is re-exported. */
  readonly from?: ImportedName;
  /** Whether it is a type, which does not exist at run time. */
  readonly isType: boolean;
  readonly at: SourceRange;
}

/** The exports of a module. */
export interface ModuleExports {
  readonly named: readonly ExportEntry[];
  /** The `export * from "…"` statements. */
  readonly starExports: readonly { readonly source: string; readonly at: SourceRange }[];
}

/** Returns the value exports of a local name. Re-exports are not included. */
export function exportsOfLocal(exports: ModuleExports, local: string): ExportEntry[] {
  return exports.named.filter((exported) => exported.local === local && !exported.from && !exported.isType);
}

/** Reads the exports of a module. A name that is imported and then exported is a re-export. */
export function readExports(program: ESTree.Program, scope: Scope): ModuleExports {
  const named: ExportEntry[] = [];
  const starExports: { source: string; at: SourceRange }[] = [];
  for (const statement of program.body) {
    if (statement.type === "ExportAllDeclaration") {
      const isType = statement.exportKind === "type";
      if (statement.exported) {
        const name = specifierName(statement.exported);
        named.push({ name, from: { source: statement.source.value, name: "*" }, isType, at: statement.exported });
      } else if (!isType) starExports.push({ source: statement.source.value, at: statement.source });
    } else if (statement.type === "ExportDefaultDeclaration") {
      named.push(defaultExportEntry(statement, scope));
    } else if (statement.type === "ExportNamedDeclaration") {
      named.push(
        ...declarationEntries(statement),
        ...statement.specifiers.map((specifier) => specifierEntry(specifier, statement, scope)),
      );
    }
  }
  return { named, starExports };
}

function defaultExportEntry(statement: ESTree.ExportDefaultDeclaration, scope: Scope): ExportEntry {
  const { declaration } = statement;
  const base = { name: "default", isType: declaration.type === "TSInterfaceDeclaration", at: declaration };
  if (declaration.type === "Identifier") return { ...base, ...localOrImported(declaration.name, scope) };
  return "id" in declaration && declaration.id?.type === "Identifier" ? { ...base, local: declaration.id.name } : base;
}

function declarationEntries(statement: ESTree.ExportNamedDeclaration): ExportEntry[] {
  const { declaration } = statement;
  if (!declaration) return [];
  const isType =
    declaration.type === "TSTypeAliasDeclaration" ||
    declaration.type === "TSInterfaceDeclaration" ||
    ("declare" in declaration && declaration.declare === true);
  if (declaration.type === "VariableDeclaration") {
    return declaration.declarations.flatMap(({ id }) =>
      patternNames(id).map((name) => ({ name, local: name, isType, at: id })),
    );
  }
  const id = "id" in declaration ? declaration.id : null;
  return id?.type === "Identifier" ? [{ name: id.name, local: id.name, isType, at: id }] : [];
}

function specifierEntry(
  specifier: ESTree.ExportSpecifier,
  statement: ESTree.ExportNamedDeclaration,
  scope: Scope,
): ExportEntry {
  const local = specifierName(specifier.local);
  const name = specifierName(specifier.exported);
  const isType = statement.exportKind === "type" || specifier.exportKind === "type";
  const base = { name, isType, at: specifier };
  if (statement.source) return { ...base, from: { source: statement.source.value, name: local } };
  const onlyType = scope.findValue(local) === undefined && scope.findType(local) !== undefined;
  return { ...base, ...localOrImported(local, scope), isType: isType || onlyType };
}

function localOrImported(local: string, scope: Scope): { local: string; from?: ImportedName } {
  const imported = scope.findValue(local)?.imported;
  return imported ? { local, from: imported } : { local };
}
