/** What expressions and functions of a module are: imports, functions, data, members of tsweb, components. */
import type { ESTree } from "vite";
import {
  declaredValue,
  type FunctionNode,
  findNode,
  type ImportedName,
  isFunctionNode,
  isMarkup,
  keyName,
  memberName,
  type Node,
  nodesOf,
  type Scope,
  type Scopes,
  unwrapChain,
  unwrapExpression,
} from "../syntax/index.ts";
import type { Declaration } from "./declarations.ts";

/** Returns the import that an identifier, or a member of a namespace import, refers to. */
export function importedNameOf(node: Node, scope: Scope): ImportedName | undefined {
  if (node.type === "Identifier" || node.type === "JSXIdentifier") {
    const imported = scope.findValue(node.name)?.imported;
    return imported?.name === "*" ? undefined : imported;
  }
  if (node.type !== "MemberExpression" && node.type !== "JSXMemberExpression") return undefined;
  const { object } = node;
  if (object.type !== "Identifier" && object.type !== "JSXIdentifier") return undefined;
  const namespace = scope.findValue(object.name)?.imported;
  const name = node.type === "MemberExpression" ? memberName(node) : node.property.name;
  return namespace?.name === "*" && name !== undefined ? { source: namespace.source, name } : undefined;
}

/** Returns whether an element is one of HTML or SVG, and not a component. */
export function isIntrinsicName(name: ESTree.JSXElementName): boolean {
  return name.type === "JSXNamespacedName" || (name.type === "JSXIdentifier" && /^[a-z]|-/.test(name.name));
}

/** Returns the expressions whose value an expression may have: the branches of `?:`, `&&`, `||` and `??`. */
export function possibleValues(node: Node): Node[] {
  const inner = unwrapExpression(node);
  if (inner.type === "ConditionalExpression")
    return [...possibleValues(inner.consequent), ...possibleValues(inner.alternate)];
  if (inner.type === "LogicalExpression") return [...possibleValues(inner.left), ...possibleValues(inner.right)];
  return [inner];
}

/** Returns whether an expression is a function, or a name that is declared as one in this module. */
export function isFunctionValue(node: Node, scope: Scope): boolean {
  if (isFunctionNode(node)) return true;
  const binding = node.type === "Identifier" ? scope.findValue(node.name) : undefined;
  return (binding?.declarations ?? []).some((declaration) => {
    if (isFunctionNode(declaration)) return binding?.kind === "function";
    const init =
      declaration.type === "VariableDeclarator" && declaration.id.type === "Identifier" ? declaration.init : null;
    return init ? isFunctionNode(unwrapExpression(init)) : false;
  });
}

/** Returns whether an expression cannot be a function. Errs towards no. */
export function isData(node: Node, scope: Scope): boolean {
  return possibleValues(node).every((possibleValue) => {
    switch (possibleValue.type) {
      case "Literal":
      case "TemplateLiteral":
      case "ObjectExpression":
      case "ArrayExpression":
      case "UnaryExpression":
      case "BinaryExpression":
      case "JSXElement":
      case "JSXFragment":
        return true;
      case "Identifier":
        return possibleValue.name === "undefined" && !scope.findValue("undefined");
      default:
        return false;
    }
  });
}

const ACTIONS = ["action", "formAction"];

/** Returns whether an attribute may be a server function, in JSX. */
export function isActionName(name: string): boolean {
  return ACTIONS.includes(name);
}

/** An attribute of an element, other than a spread, and one whose name has a namespace. */
interface NamedAttribute {
  readonly name: string;
  /** The expression in its braces, or its text; `undefined` without a value. */
  readonly value: Node | undefined;
  readonly at: ESTree.JSXAttribute;
}

/** Returns the attributes of an element that have a name. */
export function attributesOf({ attributes }: ESTree.JSXOpeningElement): NamedAttribute[] {
  return attributes.flatMap((at) => {
    if (at.type !== "JSXAttribute" || at.name.type !== "JSXIdentifier") return [];
    const value = at.value?.type === "JSXExpressionContainer" ? at.value.expression : at.value;
    return [{ name: at.name.name, value: value ? unwrapExpression(value) : undefined, at }];
  });
}

/** Returns the attributes of an element that may be server functions. */
export function actionsOf({ openingElement }: ESTree.JSXElement) {
  return attributesOf(openingElement).flatMap(({ name, value, at }) =>
    value && isActionName(name) ? [{ name, value, at }] : [],
  );
}

/** Returns the elements of a module that are imported components, in source order. */
export function importedElements(scopes: Scopes) {
  return nodesOf(scopes, "JSXOpeningElement").flatMap(({ node: element, scope }) => {
    const component = isIntrinsicName(element.name) ? undefined : importedNameOf(element.name, scope);
    return component ? [{ element, component, scope }] : [];
  });
}

/** A member of an object that `tsweb` exports, such as `session.user`. */
interface TswebMember {
  /** The exported name of the object. */
  readonly object: string;
  readonly member: string;
}

/**
 * Returns which member of an object of `tsweb` an expression is, directly or through a constant: `session.user`,
 * `const user = session.user`, `const { user } = session`. Errs towards `undefined`.
 */
export function tswebMemberOf(expression: Node, scope: Scope): TswebMember | undefined {
  const value = unwrapChain(expression);
  if (value.type === "MemberExpression") return memberOf(value.object, memberName(value), scope);
  return value.type === "Identifier" ? memberOfVariable(value.name, scope) : undefined;
}

function memberOfVariable(variable: string, scope: Scope): TswebMember | undefined {
  const binding = scope.findValue(variable);
  const [declaration, second] = binding?.declarations ?? [];
  if (!binding || binding.reassigned || second || declaration?.type !== "VariableDeclarator" || !declaration.init) {
    return undefined;
  }
  if (declaration.id.type === "Identifier") {
    const init = unwrapChain(declaration.init);
    return init.type === "MemberExpression" ? memberOf(init.object, memberName(init), binding.scope) : undefined;
  }
  if (declaration.id.type !== "ObjectPattern") return undefined;
  const property = declaration.id.properties.find(
    (each) => each.type === "Property" && each.value.type === "Identifier" && each.value.name === variable,
  );
  if (property?.type !== "Property" || property.computed) return undefined;
  return memberOf(declaration.init, keyName(property), binding.scope);
}

function memberOf(object: Node, member: string | undefined, scope: Scope): TswebMember | undefined {
  const imported = importedNameOf(unwrapChain(object), scope);
  return imported?.source === "tsweb" && member !== undefined ? { object: imported.name, member } : undefined;
}

/** What is read of a module to find its components. */
interface ComponentModule {
  readonly program: ESTree.Program;
  readonly scopes: Scopes;
  readonly declarations: readonly Declaration[];
}

/** A function that is rendered, and the name in messages. */
export interface FoundComponent {
  readonly fn: FunctionNode;
  readonly name: string;
}

/** Returns the functions of the module's views, and its functions with markup that are named like components. */
export function findComponents({ declarations, program, scopes }: ComponentModule): FoundComponent[] {
  const found = new Map<FunctionNode, string>();
  for (const { kind, call, name } of declarations) {
    const argument = kind === "view" && call.arguments[0] ? unwrapExpression(call.arguments[0]) : undefined;
    const fn = argument && (isFunctionNode(argument) ? argument : declaredFunction(argument, scopes.module));
    if (fn) found.set(fn, name);
  }
  for (const statement of program.body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    for (const { fn, name } of namedFunctions(declaration)) {
      // An async function is no component; a page may call it.
      if (/^\p{Lu}/u.test(name) && !found.has(fn) && !fn.async && rendersMarkup(fn)) found.set(fn, name);
    }
  }
  return [...found].map(([fn, name]) => ({ fn, name: name === "default" ? "the view" : name }));
}

function declaredFunction(node: Node, scope: Scope): FunctionNode | undefined {
  if (node.type !== "Identifier") return undefined;
  const values = (scope.findValue(node.name)?.declarations ?? []).map(declaredValue);
  return values.find((value): value is FunctionNode => value !== undefined && isFunctionNode(value));
}

function namedFunctions(declaration: Node | null): FoundComponent[] {
  if (declaration?.type === "FunctionDeclaration") return [{ fn: declaration, name: declaration.id?.name ?? "" }];
  if (declaration?.type !== "VariableDeclaration") return [];
  return declaration.declarations.flatMap(({ id, init }) => {
    const fn = init && unwrapExpression(init);
    return id.type === "Identifier" && fn && isFunctionNode(fn) ? [{ fn, name: id.name }] : [];
  });
}

/** Returns whether a function contains markup. The functions inside of it do not count. */
function rendersMarkup(fn: FunctionNode): boolean {
  return findNode(fn, isMarkup, (node) => node !== fn && isFunctionNode(node)) !== undefined;
}
