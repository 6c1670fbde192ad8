import type { ESTree } from "vite";
import type { SourceRange } from "./compile-error.ts";
import { nodesOf, type Scopes } from "./scope.ts";
import { type Node, specifierName, stringValue } from "./walk.ts";

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
