import type { ESTree } from "vite";
import type { Span } from "./errors.ts";
import { type Node, specifierName, stringValue, walk } from "./walk.ts";

/** A name that is taken from another module. */
export interface TakenName {
  /** What that module calls it; `"default"` and `"*"` as in import statements. */
  readonly name: string;
  /** `import { type X }`: nothing of it is left at run time. */
  readonly isType: boolean;
  readonly at: Span;
}

/** A place where a module names another. */
export interface Reference {
  readonly kind: "import" | "export" | "export-all" | "dynamic-import" | "url" | "require";
  readonly source: string;
  /** The specifier's text, quotes included. */
  readonly at: Span;
  readonly names: readonly TakenName[];
  /** All that it takes is types. */
  readonly isType: boolean;
  /** `import { type X }`: some settings of the compiler leave `import {}` of it behind. */
  readonly leavesImport?: true;
  /** The whole statement or expression. */
  readonly node: Span;
}

/** Finds every place where a module names another one in its text. */
export function readReferences(program: ESTree.Program): Reference[] {
  const found: Reference[] = [];
  walk(program, (node) => {
    const reference = referenceOf(node);
    if (reference) found.push(reference);
    return true;
  });
  return found;
}

function referenceOf(node: Node): Reference | undefined {
  switch (node.type) {
    case "ImportDeclaration": {
      const names = node.specifiers.map(imported);
      return { kind: "import", ...place(node.source, node), names, ...typeOnly(node.importKind, names) };
    }
    case "ExportNamedDeclaration": {
      if (!node.source) return undefined;
      const names = node.specifiers.map(handedOn);
      return { kind: "export", ...place(node.source, node), names, ...typeOnly(node.exportKind, names) };
    }
    case "ExportAllDeclaration":
      return { kind: "export-all", ...place(node.source, node), names: [], isType: node.exportKind === "type" };
    case "ImportExpression":
      return expression("dynamic-import", node.source, node);
    case "TSImportEqualsDeclaration":
      if (node.moduleReference.type !== "TSExternalModuleReference") return undefined;
      return {
        kind: "require",
        ...place(node.moduleReference.expression, node),
        names: [],
        isType: node.importKind === "type",
      };
    case "CallExpression":
      if (node.callee.type !== "Identifier" || node.callee.name !== "require") return undefined;
      return expression("require", node.arguments[0], node);
    case "NewExpression":
      return isFileUrl(node) ? expression("url", node.arguments[0], node) : undefined;
    default:
      return undefined;
  }
}

function place(source: ESTree.StringLiteral, node: Node): Pick<Reference, "source" | "at" | "node"> {
  return { source: source.value, at: source, node };
}

function expression(kind: Reference["kind"], source: Node | undefined, node: Node): Reference | undefined {
  const value = source && stringValue(source);
  return source && value !== undefined
    ? { kind, source: value, at: source, names: [], isType: false, node }
    : undefined;
}

function imported(specifier: ESTree.ImportDeclarationSpecifier): TakenName {
  if (specifier.type === "ImportNamespaceSpecifier") return { name: "*", isType: false, at: specifier };
  if (specifier.type === "ImportDefaultSpecifier") return { name: "default", isType: false, at: specifier };
  return { name: specifierName(specifier.imported), isType: specifier.importKind === "type", at: specifier };
}

function handedOn(specifier: ESTree.ExportSpecifier): TakenName {
  return { name: specifierName(specifier.local), isType: specifier.exportKind === "type", at: specifier };
}

function typeOnly(
  kind: "type" | "value" | undefined,
  names: readonly TakenName[],
): Pick<Reference, "isType" | "leavesImport"> {
  if (kind === "type") return { isType: true };
  const isType = names.length > 0 && names.every((name) => name.isType);
  return isType ? { isType, leavesImport: true } : { isType };
}

/** `new URL("./x", import.meta.url)`, of which Vite makes an asset: the file's very text. */
function isFileUrl(node: ESTree.NewExpression): boolean {
  const base = node.arguments[1];
  return (
    node.callee.type === "Identifier" &&
    node.callee.name === "URL" &&
    base?.type === "MemberExpression" &&
    base.object.type === "MetaProperty"
  );
}
