import type { ESTree } from "vite";
import { isFunctionNode, memberPath, type Node, stringValue, unwrapExpression, walk } from "../syntax/index.ts";

/** A value that a checkbox or a radio button assigns to itself. */
export interface UnchangedValue {
  readonly message: string;
  readonly at: Node;
}

/**
 * Returns where the handler of a checkbox or a radio button assigns the element's value to what this value is read from, as in
 * `<input type="checkbox" value={form.terms} onChange={(event) => (form.terms = event.currentTarget.value)} />`: whether
 * it is checked never arrives there.
 */
export function findUnchangedValue({ name, attributes }: ESTree.JSXOpeningElement): UnchangedValue | undefined {
  if (name.type !== "JSXIdentifier" || name.name !== "input") return undefined;
  const values = new Map<string, Node>();
  for (const attribute of attributes) {
    if (attribute.type !== "JSXAttribute" || attribute.name.type !== "JSXIdentifier" || !attribute.value) continue;
    const { value } = attribute;
    values.set(
      attribute.name.name,
      unwrapExpression(value.type === "JSXExpressionContainer" ? value.expression : value),
    );
  }
  const type = stringOf(values.get("type"));
  const own = values.get("value");
  const path = own && memberPath(own)?.join(".");
  if ((type !== "checkbox" && type !== "radio") || path === undefined) return undefined;
  for (const [attribute, handler] of values) {
    const at = /^on[A-Z]/.test(attribute) ? ownAssignment(handler, path) : undefined;
    if (at) return { message: messageOf(type, path), at };
  }
  return undefined;
}

function stringOf(node: Node | undefined): string | undefined {
  return node && stringValue(node);
}

/** Returns the assignment of the event's `currentTarget.value`, or `target.value`, to a path. */
function ownAssignment(handler: Node, path: string): Node | undefined {
  const [event] = isFunctionNode(handler) ? handler.params : [];
  if (event?.type !== "Identifier") return undefined;
  const received = [`${event.name}.currentTarget.value`, `${event.name}.target.value`];
  let found: Node | undefined;
  walk(handler, (node) => {
    const isOwn =
      node.type === "AssignmentExpression" &&
      node.operator === "=" &&
      memberPath(node.left)?.join(".") === path &&
      received.includes(memberPath(unwrapExpression(node.right))?.join(".") ?? "");
    if (isOwn) found ??= node;
    return true;
  });
  return found;
}

function messageOf(type: "checkbox" | "radio", path: string): string {
  const problem = `This assigns to \`${path}\` the value that it already has, because the user changes whether the element is checked, and not its value.`;
  return type === "checkbox"
    ? `${problem} Write \`checked={${path}} onChange={(event) => (${path} = event.currentTarget.checked)}\`.`
    : `${problem} Give each radio button a value of its own: \`value="red" checked={${path} === "red"}\`.`;
}
