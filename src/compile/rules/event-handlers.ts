import { closestName } from "../../text/index.ts";
import {
  attributesOf,
  isIntrinsicName,
  type ModuleFacts,
  type ModuleResolver,
  possibleValues,
} from "../modules/index.ts";
import {
  CompileError,
  findNode,
  isFunctionNode,
  memberPath,
  type Node,
  nodesOf,
  type Scope,
  type SourceFile,
  unwrapExpression,
} from "../syntax/index.ts";
import { serverFunctionOf } from "./forms.ts";

/** An event handler of an element, as the module shows it. */
interface Handler {
  readonly attribute: string;
  readonly isForm: boolean;
  readonly value: Node;
  readonly scope: Scope;
}

/**
 * Rejects server functions as event handlers of elements in browser code: a handler receives the event, which cannot be sent.
 * The rejected promise would have no location in the application. Rejects functions that are called during the rendering and
 * return nothing, and misspelled names of event handlers: no event would call them.
 *
 * @throws CompileError at the value or the name of the attribute
 */
export async function checkEventHandlers(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (facts.isServerModule) return; // elements outside of views have no event handlers
  for (const { attribute, isForm, value, scope } of handlersIn(facts)) {
    const called = calledHandlerMessage(attribute, value, scope, facts.source);
    if (called !== undefined) throw new CompileError(called, facts.source, value);
    const signature = await serverFunctionOf(value, scope, { facts, resolver });
    if (typeof signature !== "object") continue;
    const written = facts.source.code.slice(value.start, value.end);
    const params = signature.params.map(({ name }) => name).join(", ");
    const call = `${written}(${params})`;
    const fix =
      isForm && attribute === "onSubmit"
        ? `For a form whose fields are its parameters, write action={${written}}. Otherwise write ${attribute}={(event) => { event.preventDefault(); ${call}; }}.`
        : `Write ${attribute}={() => ${call}}.`;
    const message = `The server function ${signature.name} cannot be an event handler: it would receive the event as its argument. ${fix}`;
    throw new CompileError(message, facts.source, value);
  }
}

function handlersIn({ scopes, source }: ModuleFacts): Handler[] {
  const handlers: Handler[] = [];
  for (const { node, scope } of nodesOf(scopes, "JSXOpeningElement")) {
    if (!isIntrinsicName(node.name)) continue;
    const isForm = node.name.type === "JSXIdentifier" && node.name.name === "form";
    for (const { name, value: handler, at } of attributesOf(node)) {
      if (!/^on[A-Z]/.test(name)) continue;
      if (!isCustomElement(node.name)) checkName(name, at, source);
      for (const value of handler ? possibleValues(handler) : [])
        handlers.push({ attribute: name, isForm, value, scope });
    }
  }
  return handlers;
}

/** Returns whether an element is a custom one, which may dispatch events of any name. */
const isCustomElement = (name: Node) => name.type === "JSXIdentifier" && name.name.includes("-");

function checkName(name: string, attribute: Node, source: ModuleFacts["source"]): void {
  const meant = meantHandler(name);
  if (meant !== undefined)
    throw new CompileError(`Elements have no event handler ${name}. Write ${meant}.`, source, attribute);
}

/** Functions of browsers that return nothing. */
const GLOBAL_FUNCTIONS: ReadonlySet<string> = new Set([
  ...["alert", "scrollTo", "console.log", "console.error", "console.warn", "console.info", "location.reload"],
  ...["location.assign", "location.replace", "history.back", "history.pushState"],
]);

/**
 * Returns the error message for the value of an event handler that calls a function while rendering, although the function
 * returns nothing: the event would do nothing. `undefined` for every other value, also if it is not certain what a call returns.
 */
function calledHandlerMessage(attribute: string, value: Node, scope: Scope, { code }: SourceFile) {
  if (value.type !== "CallExpression" || !returnsNothing(unwrapExpression(value.callee), scope)) return undefined;
  const call = code.slice(value.start, value.end);
  return `This calls the function during the rendering, and it returns nothing, so the event does nothing. Write ${attribute}={() => ${call}}.`;
}

/** Returns whether a function of this module, or of the browser, certainly returns nothing. */
function returnsNothing(callee: Node, scope: Scope): boolean {
  const path = memberPath(callee);
  if (path && GLOBAL_FUNCTIONS.has(path.join("."))) return scope.findValue(path[0] ?? "") === undefined;
  const binding = callee.type === "Identifier" ? scope.findValue(callee.name) : undefined;
  const [declaration, ...others] = binding?.declarations ?? [];
  if (!binding || binding.reassigned || !declaration || others.length > 0) return false;
  const fn = functionOf(declaration, binding.kind);
  if (!fn || !isFunctionNode(fn) || fn.async || fn.generator || fn.body?.type !== "BlockStatement") return false;
  return !findNode(fn.body, (node) => node.type === "ReturnStatement" && node.argument !== null, isFunctionNode);
}

function functionOf(declaration: Node, kind: string): Node | undefined {
  if (kind === "function") return declaration;
  if (declaration.type !== "VariableDeclarator" || declaration.id.type !== "Identifier" || !declaration.init) return;
  return unwrapExpression(declaration.init);
}

/** The event handlers that are written most. */
const COMMON = [
  ...[
    "onClick",
    "onDblClick",
    "onSubmit",
    "onReset",
    "onInput",
    "onChange",
    "onFocus",
    "onBlur",
    "onKeyDown",
    "onKeyUp",
  ],
  ...["onMouseDown", "onMouseUp", "onMouseMove", "onMouseEnter", "onMouseLeave", "onMouseOver", "onMouseOut"],
  ...[
    "onPointerDown",
    "onPointerUp",
    "onPointerMove",
    "onPointerEnter",
    "onPointerLeave",
    "onContextMenu",
    "onDragStart",
  ],
  ...["onTouchStart", "onTouchMove", "onTouchEnd", "onScroll", "onDragOver", "onDragEnd", "onPaste"],
];

/** The handlers of other events whose names are similar to a common one. A test compares them with the types of Preact. */
const SIMILAR: ReadonlySet<string> = new Set(["onFocusIn", "onFocusOut", "onKeyPress", "onDrag", "onDrop", "onToggle"]);

/** The longest distance of a misspelled name from the one that is meant. */
const MAX_DISTANCE = 1;

/**
 * Returns the event handler that a misspelled one probably means: `onClick` for `onClik`. `undefined` for the name of an event,
 * and for a name that is not similar to a common one: elements dispatch events of any name.
 *
 * @param attribute the name of an attribute that begins with `on` and a capital letter
 */
export function meantHandler(attribute: string): string | undefined {
  const name = attribute.replace(/Capture$/, "");
  if (SIMILAR.has(name)) return undefined;
  const meant = closestName(name, COMMON, MAX_DISTANCE);
  // Preact ignores the case of the events that elements have.
  return meant?.toLowerCase() === name.toLowerCase() ? undefined : meant;
}
