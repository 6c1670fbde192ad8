import { importedNameOf, type ModuleFacts, type ModuleResolver, relativePath } from "../modules/index.ts";
import {
  isFunctionNode,
  memberPath,
  type Node,
  nodesOf,
  type Scope,
  sourceLocation,
  unwrapExpression,
} from "../syntax/index.ts";

/** The functions that call the function that is returned to them, by the modules that export them. */
const HOOKS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["tsweb/browser", new Set(["on_mount"])],
  ["preact/hooks", new Set(["useEffect", "useLayoutEffect"])],
]);

/**
 * Returns a warning for each function of `on_mount` or `useEffect` that returns the number of an interval, such as
 * `on_mount(() => setInterval(tick, 1000))`: a number is ignored, and the interval continues after the component is removed.
 *
 * Errs towards silence: other timers run once, and other values may be the unused result of an arrow function.
 *
 * @param resolver.root the project's root; the file names in the warnings are relative to it
 */
export function timerWarnings({ scopes, source }: ModuleFacts, { root }: Pick<ModuleResolver, "root">): string[] {
  const warnings: string[] = [];
  if (!source.code.includes("setInterval")) return warnings;
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const hook = hookName(node.callee, scope);
    if (hook === undefined) continue;
    const call = returnedInterval(node.arguments[0], scope);
    if (call) {
      const location = `${relativePath(source.file, root)}:${sourceLocation(source, call.start).line}`;
      warnings.push(
        `${location} returns the number of an interval to ${hook}, which nothing stops. Return a function that stops it: ` +
          `\`${hook}(() => { const timer = setInterval(…); return () => clearInterval(timer); }${hook === "on_mount" ? "" : ", […]"})\`.`,
      );
    }
  }
  return warnings;
}

function hookName(callee: Node, scope: Scope): string | undefined {
  const imported = importedNameOf(unwrapExpression(callee), scope);
  return imported && HOOKS.get(imported.source)?.has(imported.name) ? imported.name : undefined;
}

/** Returns the call of `setInterval` whose result a function returns; `undefined` if it certainly returns none. */
function returnedInterval(argument: Node | undefined, scope: Scope): Node | undefined {
  const fn = argument && unwrapExpression(argument);
  if (!fn || !isFunctionNode(fn) || fn.async || fn.generator || !fn.body) return undefined;
  const last = fn.body.type === "BlockStatement" ? fn.body.body.at(-1) : undefined;
  const returned =
    fn.body.type !== "BlockStatement" ? fn.body : last?.type === "ReturnStatement" ? last.argument : null;
  const value = returned && unwrapExpression(returned);
  return value?.type === "CallExpression" && isSetInterval(value.callee, scope) ? value : undefined;
}

function isSetInterval(callee: Node, scope: Scope): boolean {
  const path = memberPath(callee) ?? [];
  const [root = "", member] = path;
  const isGlobal = !scope.findValue(root);
  if (path.length === 1) return isGlobal && root === "setInterval";
  return isGlobal && path.length === 2 && member === "setInterval" && /^(?:window|globalThis|self)$/.test(root);
}
