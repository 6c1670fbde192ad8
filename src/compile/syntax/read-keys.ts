import { memberName } from "./member-path.ts";
import { type Node, stringValue } from "./walk.ts";

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
