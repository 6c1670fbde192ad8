import type { ESTree } from "vite";
import type { SourceRange } from "./compile-error.ts";
import { childrenOf, type Node, specifierName, stringValue } from "./nodes.ts";
import { type ImportedName, nodesOf, patternNames, type Scope, type Scopes } from "./scope.ts";

/** One export of a module. */
interface ExportEntry {
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

/** A name that a module imports or re-exports from another module. */
export interface ReferencedName {
  /** Its name in the other module; `"default"` for a default import and `"*"` for a namespace. */
  readonly name: string;
  /** Whether it is `type X`, which is erased. */
  readonly isType: boolean;
  readonly at: SourceRange;
}

/** A reference of a module to another module. */
export interface ModuleReference {
  readonly kind: "import" | "export" | "export-all" | "dynamic-import" | "url" | "require";
  readonly specifier: string;
  /** The range of the specifier, quotes included. */
  readonly at: SourceRange;
  readonly names: readonly ReferencedName[];
  /** Whether it refers to types only. */
  readonly isType: boolean;
  /** Set for `import { type X }`: with `verbatimModuleSyntax` it is emitted as `import {}`. */
  readonly leavesImport?: true;
  /** The whole statement or expression. */
  readonly node: SourceRange;
}

/** Returns every reference to another module whose specifier is a literal. */
export function findModuleReferences(scopes: Scopes): ModuleReference[] {
  return nodesOf(scopes, ...REFERENCES).flatMap(({ node }) => moduleReference(node) ?? []);
}

const REFERENCES = [
  ...(["ImportDeclaration", "ExportNamedDeclaration", "ExportAllDeclaration", "ImportExpression"] as const),
  ...(["TSImportEqualsDeclaration", "CallExpression", "NewExpression"] as const),
];

function moduleReference(node: Node): ModuleReference | undefined {
  switch (node.type) {
    case "ImportDeclaration": {
      const names = node.specifiers.map(importedName);
      return {
        kind: "import",
        ...referencePosition(node.source, node),
        names,
        ...typeOnlyFlags(node.importKind, names),
      };
    }
    case "ExportNamedDeclaration": {
      if (!node.source) return undefined;
      const names = node.specifiers.map(reExportedName);
      return {
        kind: "export",
        ...referencePosition(node.source, node),
        names,
        ...typeOnlyFlags(node.exportKind, names),
      };
    }
    case "ExportAllDeclaration":
      return {
        kind: "export-all",
        ...referencePosition(node.source, node),
        names: [],
        isType: node.exportKind === "type",
      };
    case "ImportExpression":
      return expressionReference("dynamic-import", node.source, node);
    case "TSImportEqualsDeclaration":
      if (node.moduleReference.type !== "TSExternalModuleReference") return undefined;
      return {
        kind: "require",
        ...referencePosition(node.moduleReference.expression, node),
        names: [],
        isType: node.importKind === "type",
      };
    case "CallExpression":
      if (node.callee.type !== "Identifier" || node.callee.name !== "require") return undefined;
      return expressionReference("require", node.arguments[0], node);
    case "NewExpression":
      return isImportMetaUrl(node) ? expressionReference("url", node.arguments[0], node) : undefined;
    default:
      return undefined;
  }
}

function referencePosition(
  source: ESTree.StringLiteral,
  node: Node,
): Pick<ModuleReference, "specifier" | "at" | "node"> {
  return { specifier: source.value, at: source, node };
}

function expressionReference(
  kind: ModuleReference["kind"],
  source: Node | undefined,
  node: Node,
): ModuleReference | undefined {
  const value = source && stringValue(source);
  return source && value !== undefined
    ? { kind, specifier: value, at: source, names: [], isType: false, node }
    : undefined;
}

function importedName(specifier: ESTree.ImportDeclarationSpecifier): ReferencedName {
  if (specifier.type === "ImportNamespaceSpecifier") return { name: "*", isType: false, at: specifier };
  if (specifier.type === "ImportDefaultSpecifier") return { name: "default", isType: false, at: specifier };
  return { name: specifierName(specifier.imported), isType: specifier.importKind === "type", at: specifier };
}

function reExportedName(specifier: ESTree.ExportSpecifier): ReferencedName {
  return { name: specifierName(specifier.local), isType: specifier.exportKind === "type", at: specifier };
}

function typeOnlyFlags(
  kind: "type" | "value" | undefined,
  names: readonly ReferencedName[],
): Pick<ModuleReference, "isType" | "leavesImport"> {
  if (kind === "type") return { isType: true };
  const isType = names.length > 0 && names.every((name) => name.isType);
  return isType ? { isType, leavesImport: true } : { isType };
}

/** Returns whether an expression is `new URL("./x", import.meta.url)`, for which Vite emits the file itself as an asset. */
function isImportMetaUrl(node: ESTree.NewExpression): boolean {
  const base = node.arguments[1];
  return (
    node.callee.type === "Identifier" &&
    node.callee.name === "URL" &&
    base?.type === "MemberExpression" &&
    base.object.type === "MetaProperty"
  );
}

/** A use of a global name, as in `process.env`: an identifier that the module declares nowhere, or with `declare`. */
export interface GlobalReference {
  readonly node: ESTree.IdentifierReference;
  readonly scope: Scope;
  /** The nodes that contain it, the innermost first. */
  readonly ancestors: readonly Node[];
  /** Whether the module has a `declare const` for the name. */
  readonly isDeclared: boolean;
}

/**
 * Returns the uses of global names in expressions. Types, `declare` statements, property names, labels and the operand of
 * `typeof`, which does not fail for a missing name, are not included.
 */
export function findGlobalReferences(
  program: ESTree.Program,
  scopes: Scopes,
  names: ReadonlySet<string>,
): GlobalReference[] {
  const found: GlobalReference[] = [];
  const ambient = ambientVariables(program);
  const visit = (node: Node, outer: Scope, ancestors: readonly Node[]) => {
    const scope = scopes.byNode.get(node) ?? outer;
    if (node.type === "Identifier" && names.has(node.name)) {
      const declarations = scope.findValue(node.name)?.declarations ?? [];
      if (declarations.every((declaration) => ambient.has(declaration))) {
        const isDeclared = declarations.length > 0;
        // A name that nothing in the module declares is a reference.
        found.push({ node: node as ESTree.IdentifierReference, scope, ancestors, isDeclared });
      }
    }
    const path = [node, ...ancestors];
    for (const child of expressionsIn(node)) visit(child, scope, path);
  };
  visit(program, scopes.module, []);
  return found;
}

/** Returns the declarators of the module's statements such as `declare const process: Process`. They have no value. */
function ambientVariables(program: ESTree.Program): ReadonlySet<Node> {
  return new Set(
    program.body.flatMap((statement) =>
      statement.type === "VariableDeclaration" && statement.declare ? statement.declarations : [],
    ),
  );
}

/** The nodes of TypeScript that contain expressions. All others are types. */
const TYPED_EXPRESSIONS = new Set([
  ...["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion", "TSInstantiationExpression"],
  ...["TSEnumDeclaration", "TSEnumBody", "TSEnumMember", "TSModuleDeclaration", "TSModuleBlock", "TSExportAssignment"],
  "TSParameterProperty",
]);

/** Returns the children of a node that may contain references to values. */
export function expressionsIn(node: Node): readonly Node[] {
  if (node.type.startsWith("TS") && !TYPED_EXPRESSIONS.has(node.type)) return [];
  if ("declare" in node && node.declare) return [];
  switch (node.type) {
    case "MemberExpression":
      return node.computed ? [node.object, node.property] : [node.object];
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "AccessorProperty":
      return childrenOf(node).filter((child) => child !== node.key || node.computed);
    case "TSEnumMember":
      return node.initializer ? [node.initializer] : [];
    case "UnaryExpression":
      return node.operator === "typeof" && node.argument.type === "Identifier" ? [] : [node.argument];
    case "LabeledStatement":
      return [node.body];
    case "ImportDeclaration":
    case "ExportSpecifier":
    case "BreakStatement":
    case "ContinueStatement":
    case "MetaProperty":
      return [];
    default:
      return childrenOf(node);
  }
}
