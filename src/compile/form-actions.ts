import type { ESTree } from "vite";
import type { Signature } from "../protocol/index.ts";
import { importedNameOf, isData, isFunctionValue, isIntrinsicName, possibleValues } from "./jsx-values.ts";
import type { ModuleFacts } from "./module-facts.ts";
import { type ModuleResolver, resolveExport } from "./module-resolver.ts";
import {
  CompileError,
  type ImportedName,
  type Node,
  type Scope,
  type SourceRange,
  specifierName,
  stringValue,
  unwrapExpression,
  walk,
  walkScoped,
} from "./syntax/index.ts";

const NO_SERVER_FUNCTION =
  "The action of a form must be a server function, and this is another function. Declare it with server() in a server module. To run code in the browser, use `onSubmit` in a view.";

const STREAM =
  "A stream cannot be the action of a form, because a form has one result. Use a server function that returns a value.";

const BOUND =
  'bind() does not work for the action of a form, because the form calls the function on the server by its name. Pass the function itself, and send the value in a hidden field: `<input type="hidden" name="id" value={id} />`.';

const NO_FORM_FUNCTION =
  "This button calls a server function, but its form has none. Add a server function as the `action` of the form: the form then contains the hidden fields that the call needs.";

const ACTIONS = ["action", "formAction"];

/** Returns whether an attribute may be a server function, in JSX. */
export function isActionName(name: string): boolean {
  return ACTIONS.includes(name);
}

/**
 * Checks the actions of forms and buttons, as far as the module shows them.
 *
 * @throws CompileError at a function that is no server function, at a stream, at the result of bind(), and at a
 *   button with a server function in a form without one
 */
export async function checkFormActions(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const actions: { value: Node; scope: Scope }[] = [];
  walkScoped(facts.program, facts.scopes.module, facts.scopes, (node, scope) => {
    const handled = handledFunction(node, scope);
    if (handled) actions.push({ value: handled, scope });
    if (node.type !== "JSXElement" || !isIntrinsicName(node.openingElement.name)) return true;
    for (const { value } of actionsOf(node))
      actions.push(...possibleValues(value).map((one) => ({ value: one, scope })));
    checkButtons(node, scope, facts);
    return true;
  });
  for (const { value, scope } of actions) {
    const message = await problemOf(value, scope, { facts, resolver });
    if (message) throw new CompileError(message, facts.source, value);
  }
}

/** The attributes of an element that may be server functions. */
function actionsOf({ openingElement }: ESTree.JSXElement): { name: string; value: Node; at: SourceRange }[] {
  return openingElement.attributes.flatMap((attribute) => {
    if (attribute.type !== "JSXAttribute" || attribute.name.type !== "JSXIdentifier") return [];
    const { name } = attribute.name;
    if (!isActionName(name) || attribute.value?.type !== "JSXExpressionContainer") return [];
    return [{ name, value: unwrapExpression(attribute.value.expression), at: attribute }];
  });
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
  const id = await resolver.resolve(imported.source, facts.source.file);
  const resolved = await resolveExport(id, imported.name, resolver);
  if (!resolved?.facts.isServerModule) return undefined;
  return resolved.facts.functions.find((fn) => fn.name === resolved.name) ?? "other";
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
 * Returns whether the action of a form may be a server function in a module of the browser: the module then needs the code
 * that sends forms. It errs towards yes for attributes. A function that gets into an element in another way, as in
 * `h("form", { action: save })`, is found where it has the name of an action.
 */
export async function hasFormActions(facts: ModuleFacts, resolver: ModuleResolver): Promise<boolean> {
  let found = false;
  const imports: ImportedName[] = [];
  walkScoped(facts.program, facts.scopes.module, facts.scopes, (node, scope) => {
    if (node.type === "JSXElement") {
      found ||= actionsOf(node).some(({ value }) => !possibleValues(value).every((one) => isText(one, scope)));
    }
    if (node.type === "ImportDeclaration") found ||= importsForm(node);
    const passed = passedAction(node);
    const imported = passed && importedNameOf(unwrapExpression(passed), scope);
    if (imported) imports.push(imported);
    return !found;
  });
  for (const imported of found ? [] : imports) {
    const id = await resolver.resolve(imported.source, facts.source.file);
    const resolved = await resolveExport(id, imported.name, resolver);
    found ||= resolved?.facts.isServerModule ?? false;
  }
  return found;
}

/** Returns whether an expression is evidently no function: also a constant of the module. */
function isText(value: Node, scope: Scope): boolean {
  if (isData(value, scope)) return true;
  const binding = value.type === "Identifier" ? scope.findValue(value.name) : undefined;
  const [declaration] = binding?.kind === "const" ? binding.declarations : [];
  if (declaration?.type !== "VariableDeclarator" || declaration.id.type !== "Identifier") return false;
  return declaration.init !== null && isData(unwrapExpression(declaration.init), scope);
}

function importsForm({ source, importKind, specifiers }: ESTree.ImportDeclaration): boolean {
  if (source.value !== "tsweb/browser" || importKind === "type") return false;
  return specifiers.some(
    (specifier) =>
      specifier.type === "ImportSpecifier" &&
      specifier.importKind !== "type" &&
      specifierName(specifier.imported) === "form",
  );
}

/** Returns the value that a node sets as a property with the name of an action: `{ action: save }`, `props.action = save`. */
function passedAction(node: Node): Node | undefined {
  if (node.type === "Property") {
    const name = node.key.type === "Identifier" && !node.computed ? node.key.name : stringValue(node.key);
    return name !== undefined && isActionName(name) ? node.value : undefined;
  }
  if (node.type !== "AssignmentExpression" || node.left.type !== "MemberExpression") return undefined;
  const { property, computed } = node.left;
  const name = property.type === "Identifier" && !computed ? property.name : stringValue(property);
  return name !== undefined && isActionName(name) ? node.right : undefined;
}
