import type { ESTree } from "vite";
import { stringValue, walk } from "./syntax/index.ts";

/**
 * Returns whether a module may contain `<select defaultValue>`, also as `<select {...props}>` or `h("select", props)`. The browser
 * then needs `tsweb/selects`. A component whose element is a prop is not found.
 */
export function hasSelectDefaults(program: ESTree.Program): boolean {
  let found = false;
  walk(program, (node) => {
    if (node.type === "JSXOpeningElement" && node.name.type === "JSXIdentifier" && node.name.name === "select")
      found ||= node.attributes.some(mayBeDefault);
    if (node.type === "CallExpression") found ||= isCreated(node);
    return !found;
  });
  return found;
}

function mayBeDefault(attribute: ESTree.JSXAttributeItem): boolean {
  return attribute.type === "JSXSpreadAttribute" || attribute.name.name === "defaultValue";
}

function isCreated({ arguments: [name, props] }: ESTree.CallExpression): boolean {
  return name !== undefined && props !== undefined && stringValue(name) === "select";
}
