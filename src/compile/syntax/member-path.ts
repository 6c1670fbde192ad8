import { type Node, stringValue, unwrapExpression } from "./walk.ts";

/** Removes the wrappers that do not change an expression's value: those of types, parentheses and optional chains. */
function unwrapChain(node: Node): Node {
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
    const key = property.key.type === "Identifier" ? property.key.name : stringValue(property.key);
    return key === undefined ? [] : [{ key, object: init, at: property }];
  });
}
