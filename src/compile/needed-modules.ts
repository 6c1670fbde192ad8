import type { ESTree } from "vite";
import {
  actionsOf,
  importedNameOf,
  isActionName,
  isData,
  type ModuleFacts,
  type ModuleResolver,
  possibleValues,
  resolveImported,
} from "./modules/index.ts";
import {
  constantValue,
  keyName,
  memberName,
  type Node,
  nodesOf,
  type Scope,
  specifierName,
  stringValue,
  unwrapExpression,
} from "./syntax/index.ts";

/** Returns the modules of tsweb that a module of the browser needs besides those that it imports. */
export async function neededModules(facts: ModuleFacts, resolver: ModuleResolver): Promise<string[]> {
  return [
    ...((await hasFormActions(facts, resolver)) ? ["tsweb/forms"] : []),
    ...(hasNumberStyles(facts) ? ["tsweb/styles"] : []),
    ...(hasSelectDefaults(facts) ? ["tsweb/selects"] : []),
  ];
}

/**
 * Returns whether the action of a form may be a server function in a module of the browser: the module then needs the code
 * that sends forms. It errs towards yes for attributes. A function that gets into an element in another way, as in
 * `h("form", { action: save })`, is found where it has the name of an action.
 */
async function hasFormActions(facts: ModuleFacts, resolver: ModuleResolver): Promise<boolean> {
  if (nodesOf(facts.scopes, "ImportDeclaration").some(({ node }) => importsForm(node))) return true;
  for (const { node, scope } of nodesOf(facts.scopes, "JSXElement")) {
    if (actionsOf(node).some(({ value }) => !possibleValues(value).every((one) => isText(one, scope)))) return true;
  }
  for (const { node, scope } of nodesOf(facts.scopes, "Property", "AssignmentExpression")) {
    const passed = passedAction(node);
    const imported = passed && importedNameOf(unwrapExpression(passed), scope);
    if (!imported) continue;
    const resolved = await resolveImported(imported, facts, resolver);
    if (resolved?.facts.isServerModule) return true;
  }
  return false;
}

/** Returns whether an expression is evidently no function: also a constant of the module. */
function isText(value: Node, scope: Scope): boolean {
  if (isData(value, scope)) return true;
  const binding = value.type === "Identifier" ? scope.findValue(value.name) : undefined;
  const constant = constantValue(binding);
  return constant !== undefined && isData(constant, scope);
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
    const name = keyName(node);
    return name !== undefined && isActionName(name) ? node.value : undefined;
  }
  if (node.type !== "AssignmentExpression" || node.left.type !== "MemberExpression") return undefined;
  const name = memberName(node.left);
  return name !== undefined && isActionName(name) ? node.right : undefined;
}

/**
 * Returns whether a module may contain a `style` with a number, as an attribute or a property of an object: `style={{ width: 4 }}`.
 * The browser then needs `tsweb/styles`. Errs towards yes.
 */
function hasNumberStyles({ scopes }: ModuleFacts): boolean {
  return nodesOf(scopes, "JSXAttribute", "Property").some(({ node }) => {
    const value = styleOf(node);
    return value !== undefined && !possibleValues(value).every(hasNoNumber);
  });
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

/**
 * Returns whether a module may contain `<select defaultValue>`, also as `<select {...props}>` or `h("select", props)`. The browser
 * then needs `tsweb/selects`. A component whose element is a prop is not found.
 */
function hasSelectDefaults({ scopes }: ModuleFacts): boolean {
  const isSelect = ({ name }: ESTree.JSXOpeningElement) => name.type === "JSXIdentifier" && name.name === "select";
  return (
    nodesOf(scopes, "JSXOpeningElement").some(({ node }) => isSelect(node) && node.attributes.some(mayBeDefault)) ||
    nodesOf(scopes, "CallExpression").some(({ node }) => isCreated(node))
  );
}

function mayBeDefault(attribute: ESTree.JSXAttributeItem): boolean {
  return attribute.type === "JSXSpreadAttribute" || attribute.name.name === "defaultValue";
}

function isCreated({ arguments: [name, props] }: ESTree.CallExpression): boolean {
  return name !== undefined && props !== undefined && stringValue(name) === "select";
}
