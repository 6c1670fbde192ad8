import type { ESTree } from "vite";
import type { Span } from "./errors.ts";
import type { Imported, Scope } from "./scope.ts";
import { patternNames } from "./scope.ts";
import { specifierName } from "./walk.ts";

/** A name that a module exports. */
export interface Exported {
  readonly name: string;
  /** What it is called inside; none for a default expression or a re-export. */
  readonly local?: string;
  /** The module and the name it comes from, when it is another's. */
  readonly from?: Imported;
  /** It is a type: nothing of it is left at run time. */
  readonly isType: boolean;
  readonly at: Span;
}

/** Everything that a module exports. */
export interface ModuleExports {
  readonly named: readonly Exported[];
  /** The sources of `export * from "…"`. */
  readonly stars: readonly { readonly source: string; readonly at: Span }[];
}

/** Gives the names, types aside, under which a name of the module is exported. */
export function exportedNames(exports: ModuleExports, local: string): Exported[] {
  return exports.named.filter((exported) => exported.local === local && !exported.from && !exported.isType);
}

/** Reads what a module exports; what it imports and exports again counts as another module's. */
export function readExports(program: ESTree.Program, scope: Scope): ModuleExports {
  const named: Exported[] = [];
  const stars: { source: string; at: Span }[] = [];
  for (const statement of program.body) {
    if (statement.type === "ExportAllDeclaration") {
      const isType = statement.exportKind === "type";
      if (statement.exported) {
        const name = specifierName(statement.exported);
        named.push({ name, from: { source: statement.source.value, name: "*" }, isType, at: statement.exported });
      } else if (!isType) stars.push({ source: statement.source.value, at: statement.source });
    } else if (statement.type === "ExportDefaultDeclaration") {
      named.push(defaultExport(statement, scope));
    } else if (statement.type === "ExportNamedDeclaration") {
      named.push(...declared(statement), ...statement.specifiers.map((each) => specified(each, statement, scope)));
    }
  }
  return { named, stars };
}

function defaultExport(statement: ESTree.ExportDefaultDeclaration, scope: Scope): Exported {
  const { declaration } = statement;
  const base = { name: "default", isType: declaration.type === "TSInterfaceDeclaration", at: declaration };
  if (declaration.type === "Identifier") return { ...base, ...origin(declaration.name, scope) };
  return "id" in declaration && declaration.id?.type === "Identifier" ? { ...base, local: declaration.id.name } : base;
}

function declared(statement: ESTree.ExportNamedDeclaration): Exported[] {
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

function specified(
  specifier: ESTree.ExportSpecifier,
  statement: ESTree.ExportNamedDeclaration,
  scope: Scope,
): Exported {
  const local = specifierName(specifier.local);
  const name = specifierName(specifier.exported);
  const isType = statement.exportKind === "type" || specifier.exportKind === "type";
  const base = { name, isType, at: specifier };
  if (statement.source) return { ...base, from: { source: statement.source.value, name: local } };
  const found = origin(local, scope);
  const onlyType = scope.value(local) === undefined && scope.type(local) !== undefined;
  return { ...base, ...found, isType: isType || onlyType };
}

function origin(local: string, scope: Scope): { local: string; from?: Imported } {
  const imported = scope.value(local)?.imported;
  return imported ? { local, from: imported } : { local };
}
