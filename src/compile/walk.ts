import type { ESTree } from "vite";

export type Node = ESTree.Node;

/** Gives every child of a node, in the order of the text as far as the parser's keys follow it. */
export function childrenOf(node: Node): Node[] {
  const found: Node[] = [];
  for (const value of Object.values(node)) {
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) found.push(item);
  }
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Visits a node and all below it; a visitor that answers `false` is not taken further down. */
export function walk(node: Node, visit: (node: Node) => boolean | undefined): void {
  if (visit(node) === false) return;
  for (const child of childrenOf(node)) walk(child, visit);
}

/** Sees through what changes a type and not a value: parentheses, `as`, `satisfies`, `!`, `<T>x`. */
export function unwrap(node: Node): Node {
  let inner = node;
  while (
    inner.type === "ParenthesizedExpression" ||
    inner.type === "TSAsExpression" ||
    inner.type === "TSSatisfiesExpression" ||
    inner.type === "TSNonNullExpression" ||
    inner.type === "TSTypeAssertion"
  ) {
    inner = inner.expression;
  }
  return inner;
}

/** A function written as an expression or a declaration, with a body. */
export type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;

/** Answers whether a node is a function with a body. */
export function isFunction(node: Node): node is FunctionNode {
  return (
    node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" || node.type === "FunctionDeclaration"
  );
}

/** Gives the name an import or export specifier writes, quoted or not. */
export function specifierName(name: ESTree.ModuleExportName): string {
  return name.type === "Literal" ? name.value : name.name;
}

/** Gives the value of a string literal, or of a template with nothing to fill in. */
export function stringValue(node: Node): string | undefined {
  const inner = unwrap(node);
  if (inner.type === "Literal" && typeof inner.value === "string") return inner.value;
  if (inner.type === "TemplateLiteral" && inner.expressions.length === 0)
    return inner.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}
