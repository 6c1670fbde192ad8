import { importedNameOf, type ModuleFacts, type ModuleResolver, resolveExport } from "../modules/index.ts";
import {
  CompileError,
  childrenOf,
  type ImportedName,
  isFunctionNode,
  memberName,
  type Node,
  type Scope,
  type SourceRange,
  unwrapExpression,
} from "../syntax/index.ts";

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
    const id = await resolver.resolve(callee.source, facts.source.file);
    const origin = await resolveExport(id, callee.name, resolver);
    const view = origin?.facts.views.find(({ name }) => name === origin.name);
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
