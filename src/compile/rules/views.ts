import {
  attributesOf,
  exportedValue,
  importedElements,
  importedNameOf,
  isFunctionValue,
  isIntrinsicName,
  locationIn,
  type ModuleFacts,
  type ModuleResolver,
  type ResolvedExport,
  resolveImported,
} from "../modules/index.ts";
import {
  CompileError,
  childrenOf,
  type FunctionNode,
  type ImportedName,
  isFunctionNode,
  memberName,
  type Node,
  type Scope,
  type SourceRange,
  unwrapExpression,
  walkScoped,
} from "../syntax/index.ts";

/**
 * Rejects an async or generator view: rendering is synchronous.
 *
 * @throws CompileError at the function
 */
export function checkAsyncViews({ declarations, scopes, source }: ModuleFacts): void {
  for (const { kind, name, call } of declarations) {
    const argument = kind === "view" ? call.arguments.at(-1) : undefined;
    const inner = argument && unwrapExpression(argument);
    const fn =
      inner?.type === "Identifier"
        ? scopes.module.findValue(inner.name)?.declarations.find((node) => isFunctionNode(node))
        : inner;
    if (!argument || !fn || !isFunctionNode(fn) || !(fn.async || fn.generator)) continue;
    throw new CompileError(
      `The view "${name}" is ${fn.generator ? "a generator" : "async"}, but rendering is synchronous. Load its data in the page function and pass it as a prop.`,
      source,
      argument,
    );
  }
}

/** A call that the function of a page makes itself. */
interface PageCall {
  readonly callee: ImportedName;
  readonly at: SourceRange;
}

/**
 * Rejects calls of views by the functions of pages, as in `{GuestBook({ … })}`: outside of a component, Preact has no place
 * for the hooks of a view. Calls in other functions, which may be components, are found when the page is rendered.
 *
 * @throws CompileError at the call
 */
export async function checkViewCalls(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (!facts.isServerModule) return;
  for (const { callee, at } of callsOfPages(facts)) {
    const view = (await resolveImported(callee, facts, resolver))?.view;
    if (!view) continue;
    const text = facts.source.code.slice(at.start, at.end).replace(/\(.*/s, "");
    throw new CompileError(
      `The view "${view.name}" is called as a function. Write it as an element: \`<${text} … />\`.`,
      facts.source,
      at,
    );
  }
}

function callsOfPages({ declarations, scopes }: ModuleFacts): PageCall[] {
  const calls: PageCall[] = [];
  const visit = (node: Node, outer: Scope) => {
    const scope = scopes.byNode.get(node) ?? outer;
    if (node.type === "CallExpression") {
      const callee = importedNameOf(unwrapExpression(node.callee), scope);
      if (callee) calls.push({ callee, at: node });
    }
    for (const child of childrenOf(node)) {
      if (!isFunctionNode(child) || isCallbackOf(node)) visit(child, scope);
    }
  };
  for (const { kind, call } of declarations) {
    const last = kind === "page" ? call.arguments.at(-1) : undefined;
    if (last) visit(unwrapExpression(last), scopes.module);
  }
  return calls;
}

/** Returns whether a call runs the functions in its arguments at once: `guests.map((guest) => …)`. */
function isCallbackOf(call: Node): boolean {
  if (call.type !== "CallExpression") return false;
  const callee = unwrapExpression(call.callee);
  return callee.type === "MemberExpression" && ["map", "flatMap"].includes(memberName(callee) ?? "");
}

/** The functions of `tsweb/browser` that have an effect in views only. */
const VIEW_FUNCTIONS: ReadonlySet<string> = new Set(["state", "on_mount", "on_unmount"]);

/**
 * Rejects components in the markup of a page that need a browser and are no views, as when `view()` was forgotten: the page
 * would show them, and nothing in them would work.
 *
 * @throws CompileError at the element
 */
export async function checkInteractiveComponents(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (!facts.isServerModule) return;
  for (const { element, component } of importedElements(facts.scopes)) {
    const origin = await resolveImported(component, facts, resolver);
    const use = origin && interactiveUse(origin);
    if (!use) continue;
    throw new CompileError(missingViewMessage(origin, use, resolver.root), facts.source, element.name);
  }
}

/** What a component does in the browser, and where. */
interface InteractiveUse {
  readonly does: string;
  readonly component: FunctionNode;
}

function interactiveUse(component: ResolvedExport): InteractiveUse | undefined {
  const { facts, view } = component;
  if (facts.isServerModule || view) return undefined;
  const value = exportedValue(component);
  if (!value || !isFunctionNode(value)) return undefined;
  let does: string | undefined;
  walkScoped(value, facts.scopes.module, facts.scopes, (node, scope) => {
    does ??= viewFunctionCall(node, scope) ?? (hasHandler(node, scope) ? "has an event handler" : undefined);
    return does === undefined && (node === value || !isFunctionNode(node));
  });
  return does === undefined ? undefined : { does, component: value };
}

function viewFunctionCall(node: Node, scope: Scope): string | undefined {
  if (node.type !== "CallExpression") return undefined;
  const imported = importedNameOf(unwrapExpression(node.callee), scope);
  const isViewFunction = imported?.source === "tsweb/browser" && VIEW_FUNCTIONS.has(imported.name);
  return isViewFunction ? `calls ${imported.name}()` : undefined;
}

/** Returns whether an element of HTML has a function as an event handler. Handlers that are props are unknown. */
function hasHandler(node: Node, scope: Scope): boolean {
  if (node.type !== "JSXOpeningElement" || !isIntrinsicName(node.name)) return false;
  return attributesOf(node).some(
    ({ name, value }) => /^on[A-Z]/.test(name) && value !== undefined && isFunctionValue(value, scope),
  );
}

function missingViewMessage(
  { facts, name }: ResolvedExport,
  { does, component }: InteractiveUse,
  root: string,
): string {
  const location = locationIn(facts, component.start, root);
  const shown = name === "default" ? "The component" : name;
  const form = name === "default" ? "export default view((props) => …)" : `export const ${name} = view((props) => …)`;
  return (
    `${shown} (${location}) ${does} and is not a view, so it would not work in the browser. Declare it as a view: ` +
    `\`${form}\`, with \`view\` of "tsweb/browser".`
  );
}
