import type { ESTree } from "vite";
import { possibleValues } from "./jsx-values.ts";
import { type Node, walk } from "./syntax/index.ts";

/**
 * Returns whether a module may contain a `style` with a number, as an attribute or a property of an object: `style={{ width: 4 }}`.
 * The browser then needs `tsweb/styles`. Errs towards yes.
 */
export function hasNumberStyles(program: ESTree.Program): boolean {
  let found = false;
  walk(program, (node) => {
    const value = styleOf(node);
    found ||= value !== undefined && !possibleValues(value).every(hasNoNumber);
    return !found;
  });
  return found;
}

/** Returns the value that a node gives to `style`. */
function styleOf(node: Node): Node | undefined {
  if (node.type === "JSXAttribute") {
    const { name, value } = node;
    return name.name === "style" && value?.type === "JSXExpressionContainer" ? value.expression : undefined;
  }
  if (node.type !== "Property" || node.computed) return undefined;
  const { key, value } = node;
  const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? key.value : undefined;
  return name === "style" ? value : undefined;
}

function hasNoNumber(value: Node): boolean {
  if (value.type === "ObjectExpression") return value.properties.every(isTextProperty);
  return value.type === "TemplateLiteral" || (value.type === "Literal" && typeof value.value !== "number");
}

/** Returns whether a property is evidently a text, or one of the custom properties, whose numbers have no unit. */
function isTextProperty(property: ESTree.ObjectPropertyKind): boolean {
  if (property.type !== "Property" || property.computed) return false;
  const { key, value } = property;
  if (key.type === "Literal" && String(key.value).startsWith("--")) return true;
  return possibleValues(value).every(
    (possible) =>
      possible.type === "TemplateLiteral" || (possible.type === "Literal" && typeof possible.value !== "number"),
  );
}
