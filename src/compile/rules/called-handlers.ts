import {
  childrenOf,
  isFunctionNode,
  memberPath,
  type Node,
  type Scope,
  type SourceFile,
  unwrapExpression,
} from "../syntax/index.ts";

/** Functions of browsers that return nothing. */
const GLOBAL_FUNCTIONS: ReadonlySet<string> = new Set([
  ...["alert", "scrollTo", "console.log", "console.error", "console.warn", "console.info", "location.reload"],
  ...["location.assign", "location.replace", "history.back", "history.pushState"],
]);

/**
 * Returns the error message for the value of an event handler that calls a function while rendering, although the function
 * returns nothing: the event would do nothing. `undefined` for every other value, also if it is not certain what a call returns.
 */
export function calledHandlerMessage(attribute: string, value: Node, scope: Scope, { code }: SourceFile) {
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
  return !containsReturn(fn.body);
}

function functionOf(declaration: Node, kind: string): Node | undefined {
  if (kind === "function") return declaration;
  if (declaration.type !== "VariableDeclarator" || declaration.id.type !== "Identifier" || !declaration.init) return;
  return unwrapExpression(declaration.init);
}

/** Returns whether a block returns a value. The functions inside of it do not count. */
function containsReturn(node: Node): boolean {
  if (node.type === "ReturnStatement") return node.argument !== null;
  return !isFunctionNode(node) && childrenOf(node).some(containsReturn);
}
