import type { ESTree } from "vite";
import type { Signature } from "../../protocol/index.ts";
import {
  actionsOf,
  attributesOf,
  importedNameOf,
  isData,
  isFunctionValue,
  isIntrinsicName,
  type ModuleFacts,
  type ModuleResolver,
  possibleValues,
  resolveImported,
} from "../modules/index.ts";
import {
  ancestorsOf,
  CompileError,
  type Node,
  nodesOf,
  type Scope,
  stringValue,
  unwrapExpression,
  walk,
} from "../syntax/index.ts";

const NO_SERVER_FUNCTION =
  "The action of a form must be a server function, and this is another function. Declare it with server() in a server module. To run code in the browser, use `onSubmit` in a view.";

const STREAM =
  "A stream cannot be the action of a form, because a form has one result. Use a server function that returns a value.";

const BOUND =
  'bind() does not work for the action of a form, because the form calls the function on the server by its name. Pass the function itself, and send the value in a hidden field: `<input type="hidden" name="id" value={id} />`.';

const NO_FORM_FUNCTION =
  "This button calls a server function, but its form has none. Add a server function as the `action` of the form: the form then contains the hidden fields that the call needs.";

/**
 * Checks the actions of forms and buttons, as far as the module shows them.
 *
 * @throws CompileError at a function that is no server function, at a stream, at the result of bind(), and at a
 *   button with a server function in a form without one
 */
export async function checkFormActions(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const actions: { value: Node; scope: Scope }[] = [];
  for (const { node, scope } of nodesOf(facts.scopes, "CallExpression", "JSXElement")) {
    const handled = handledFunction(node, scope);
    if (handled) actions.push({ value: handled, scope });
    if (node.type !== "JSXElement" || !isIntrinsicName(node.openingElement.name)) continue;
    for (const { value } of actionsOf(node))
      actions.push(...possibleValues(value).map((one) => ({ value: one, scope })));
    checkButtons(node, scope, facts);
  }
  for (const { value, scope } of actions) {
    const message = await problemOf(value, scope, { facts, resolver });
    if (message) throw new CompileError(message, facts.source, value);
  }
}

/** Where a check looks for declarations. */
interface Lookup {
  readonly facts: ModuleFacts;
  readonly resolver: ModuleResolver;
}

async function problemOf(value: Node, scope: Scope, lookup: Lookup): Promise<string | undefined> {
  if (isFunctionValue(value, scope)) return NO_SERVER_FUNCTION;
  const bound = boundFunction(value);
  if (bound) return typeof (await serverFunctionOf(bound, scope, lookup)) === "object" ? BOUND : undefined;
  const signature = await serverFunctionOf(value, scope, lookup);
  if (signature === "other") return NO_SERVER_FUNCTION;
  return signature?.stream ? STREAM : undefined;
}

/**
 * Returns the signature of the server function that an expression refers to, here or in another module; `"other"` for
 * another export of a server module, and `undefined` for anything else.
 */
export async function serverFunctionOf(
  value: Node,
  scope: Scope,
  { facts, resolver }: Lookup,
): Promise<Signature | "other" | undefined> {
  const local = value.type === "Identifier" ? scope.findValue(value.name) : undefined;
  const here = facts.declarations.find(({ kind, local: name }) => kind === "server" && name === local?.name);
  if (here && local?.scope.isModule) return facts.functions.find(({ name }) => name === here.name);
  const imported = importedNameOf(value, scope);
  if (!imported) return undefined;
  const resolved = await resolveImported(imported, facts, resolver);
  if (!resolved?.facts.isServerModule) return undefined;
  return resolved.serverFunction ?? "other";
}

/** Returns the function of `save.bind(…)`. */
function boundFunction(value: Node): Node | undefined {
  if (value.type !== "CallExpression") return undefined;
  const callee = unwrapExpression(value.callee);
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") return undefined;
  return callee.property.name === "bind" ? unwrapExpression(callee.object) : undefined;
}

/** Returns the function whose handle `form(save)` creates. */
function handledFunction(node: Node, scope: Scope): Node | undefined {
  if (node.type !== "CallExpression") return undefined;
  const callee = importedNameOf(unwrapExpression(node.callee), scope);
  const isForm = callee?.name === "form" && (callee.source === "tsweb" || callee.source === "tsweb/browser");
  const [argument] = node.arguments;
  return isForm && argument ? unwrapExpression(argument) : undefined;
}

/** Rejects buttons with a server function in a form whose `action` is none: it lacks the hidden fields. */
function checkButtons(form: ESTree.JSXElement, scope: Scope, facts: ModuleFacts): void {
  const { name, attributes } = form.openingElement;
  if (name.type !== "JSXIdentifier" || name.name !== "form") return;
  const mayHaveFunction =
    attributes.some((attribute) => attribute.type === "JSXSpreadAttribute") ||
    actionsOf(form).some((action) => action.name === "action" && !isData(action.value, scope));
  if (mayHaveFunction) return;
  walk(form, (node) => {
    if (node.type !== "JSXElement" || node === form) return true;
    const button = actionsOf(node).find((action) => action.name === "formAction" && !isData(action.value, scope));
    if (button) throw new CompileError(NO_FORM_FUNCTION, facts.source, button.at);
    return true;
  });
}

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
    for (const { name, value, at } of attributesOf(field.node)) {
      const message = value && fieldMessage(name, stringValue(value));
      if (message) throw new CompileError(message, source, at);
    }
  }
}

function isForm(node: Node): boolean {
  return node.type === "JSXElement" && elementName(node.openingElement) === "form";
}

function elementName({ name }: ESTree.JSXOpeningElement): string {
  return name.type === "JSXIdentifier" ? name.name : "";
}

function fieldMessage(attribute: string, text: string | undefined): string | undefined {
  if (text === undefined || !NEEDED_MEMBERS.has(text)) return undefined;
  if (attribute === "name")
    return `A field named \`${text}\` hides the member of its form that Preact needs. Rename the field and the parameter.`;
  if (attribute !== "id") return undefined;
  return `A field with the id \`${text}\` hides the member of its form that Preact needs. Give it another id.`;
}
