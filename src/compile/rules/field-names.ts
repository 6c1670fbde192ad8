import type { ESTree } from "vite";
import type { ModuleFacts } from "../modules/index.ts";
import { ancestorsOf, CompileError, type Node, nodesOf, stringValue } from "../syntax/index.ts";

/**
 * The members of an element that Preact reads when it hydrates, changes, moves or removes a `<form>`. A form has its fields as
 * members, by name and by id, in place of those of all elements.
 */
const NEEDED_MEMBERS: ReadonlySet<string> = new Set([
  ...["childNodes", "localName", "namespaceURI", "nextSibling", "ownerDocument"],
  ...["insertBefore", "moveBefore", "remove", "setAttribute", "removeAttribute"],
  ...["addEventListener", "removeEventListener"],
  // Preact passes the form to `createElementNS` as the options, which have these.
  ...["customElementRegistry", "is"],
]);

/** The elements that a form has as members. */
const FIELDS: ReadonlySet<string> = new Set([
  ...["button", "fieldset", "img", "input", "object", "output", "select", "textarea"],
]);

/**
 * Rejects fields in a `<form>` whose `name` or `id` hides a member that Preact needs. For modules that browsers load: they
 * do not render the forms of pages.
 *
 * @throws CompileError at the attribute
 */
export function checkFieldNames({ scopes, source }: ModuleFacts): void {
  for (const field of nodesOf(scopes, "JSXOpeningElement")) {
    if (!FIELDS.has(elementName(field.node)) || !ancestorsOf(field).some(isForm)) continue;
    for (const attribute of field.node.attributes) {
      const message = attribute.type === "JSXAttribute" && messageOf(attribute);
      if (message) throw new CompileError(message, source, attribute);
    }
  }
}

function isForm(node: Node): boolean {
  return node.type === "JSXElement" && elementName(node.openingElement) === "form";
}

function elementName({ name }: ESTree.JSXOpeningElement): string {
  return name.type === "JSXIdentifier" ? name.name : "";
}

function messageOf({ name: attribute, value }: ESTree.JSXAttribute): string | undefined {
  const text = value && stringValue(value.type === "JSXExpressionContainer" ? value.expression : value);
  if (typeof text !== "string" || !NEEDED_MEMBERS.has(text)) return undefined;
  if (attribute.name === "name")
    return `A field named \`${text}\` hides the member of its form that Preact needs. Rename the field and the parameter.`;
  if (attribute.name !== "id") return undefined;
  return `A field with the id \`${text}\` hides the member of its form that Preact needs. Give it another id.`;
}
