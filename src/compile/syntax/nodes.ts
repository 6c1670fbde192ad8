import type { ESTree } from "vite";

/** A node of the syntax tree. */
export type Node = ESTree.Node;

/** Returns the child nodes of a node, in the order of the parser's keys. */
export function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  // Every check visits every node: a loop over the keys takes half the time of Object.values().
  for (const key in node) {
    const value: unknown = node[key as keyof Node];
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) {
      if (isNode(value)) children.push(value);
    } else for (const item of value) if (isNode(item)) children.push(item);
  }
  return children;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Visits a node and its descendants. Where `visit` returns `false`, the node's children are skipped. */
export function walk(node: Node, visit: (node: Node) => boolean | undefined): void {
  if (visit(node) === false) return;
  for (const child of childrenOf(node)) walk(child, visit);
}

/**
 * Returns the first of a node and its descendants that matches; `undefined` if there is none.
 *
 * @param isSkipped returns whether the children of a node are left out. Default: of none
 */
export function findNode(
  node: Node,
  matches: (node: Node) => boolean,
  isSkipped: (node: Node) => boolean = () => false,
): Node | undefined {
  let found: Node | undefined;
  walk(node, (each) => {
    if (!found && matches(each)) found = each;
    return !found && !isSkipped(each);
  });
  return found;
}

/** Returns whether a node is an element of JSX, or a fragment. */
export function isMarkup({ type }: Node): boolean {
  return type === "JSXElement" || type === "JSXFragment";
}

/** Removes the wrappers that change an expression's type and not its value: parentheses, `as`, `satisfies`, `!`, `<T>x`. */
export function unwrapExpression(node: Node): Node {
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

/** A function expression, function declaration or arrow function. */
export type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;

/** Returns whether a node is a function with a body. */
export function isFunctionNode(node: Node): node is FunctionNode {
  return (
    node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" || node.type === "FunctionDeclaration"
  );
}

/** Returns the value of a declaration: the initial one of a variable, or the function, class or expression that is declared. */
export function declaredValue(declaration: Node): Node | undefined {
  const value = declaration.type === "VariableDeclarator" ? declaration.init : declaration;
  return value ? unwrapExpression(value) : undefined;
}

/** Returns the name in an import or export specifier, whether it is an identifier or a string. */
export function specifierName(name: ESTree.ModuleExportName): string {
  return name.type === "Literal" ? name.value : name.name;
}

/** Returns the value of a string literal or of a template without substitutions; `undefined` for any other node. */
export function stringValue(node: Node): string | undefined {
  const inner = unwrapExpression(node);
  if (inner.type === "Literal" && typeof inner.value === "string") return inner.value;
  if (inner.type === "TemplateLiteral" && inner.expressions.length === 0)
    return inner.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

/** Removes the wrappers that do not change an expression's value: those of types, parentheses and optional chains. */
export function unwrapChain(node: Node): Node {
  const inner = unwrapExpression(node);
  return inner.type === "ChainExpression" ? unwrapChain(inner.expression) : inner;
}

/**
 * Returns the names of a chain of members, whatever its notation: `["process", "env", "A"]` for `process.env.A`,
 * `process?.env["A"]` and `(process.env as Env).A`. Returns `undefined` for any other expression.
 */
export function memberPath(node: Node): readonly string[] | undefined {
  const inner = unwrapChain(node);
  if (inner.type === "Identifier") return [inner.name];
  if (inner.type !== "MemberExpression") return undefined;
  const object = memberPath(inner.object);
  const name = memberName(inner);
  return object && name !== undefined ? [...object, name] : undefined;
}

/** Returns the name of the member that an expression reads; `undefined` if it is computed. */
export function memberName(node: Node & { type: "MemberExpression" }): string | undefined {
  if (node.computed) return stringValue(node.property);
  return node.property.type === "Identifier" ? node.property.name : undefined;
}

/** Returns the name of a property of an object, a pattern or a type; `undefined` if it is computed. */
export function keyName({ key, computed }: { readonly key: Node; readonly computed: boolean }): string | undefined {
  if (key.type === "Identifier" && !computed) return key.name;
  return key.type === "Literal" && typeof key.value === "number" ? String(key.value) : stringValue(key);
}

/** Returns whether a node has the value of its child: a wrapper of a type, parentheses or an optional chain. */
export function isWrapper(node: Node): boolean {
  return node.type === "ChainExpression" || unwrapExpression(node) !== node;
}

/** A key that a node reads of an object. */
export interface ReadKey {
  readonly key: string;
  readonly object: Node;
  readonly at: Node;
}

/** Returns the keys that a node reads, without those inside of it: `object.key`, or `const { key } = object`. */
export function keysReadBy(node: Node): ReadKey[] {
  if (node.type === "MemberExpression") {
    const key = memberName(node);
    return key === undefined ? [] : [{ key, object: node.object, at: node }];
  }
  if (node.type !== "VariableDeclarator" || node.id.type !== "ObjectPattern" || !node.init) return [];
  const { init } = node;
  return node.id.properties.flatMap((property) => {
    if (property.type !== "Property" || property.computed) return [];
    const key = keyName(property);
    return key === undefined ? [] : [{ key, object: init, at: property }];
  });
}
