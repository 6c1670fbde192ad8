import { Fragment, type VNode } from "preact";
import { type NestingProblem, nestingProblem, textProblem } from "./html-nesting.ts";
import { type ElementLocation, MarkupError, type RenderState } from "./render-state.ts";

/** A node with the fields that Preact's types omit: its parent, and its location in development. */
type LinkedNode = VNode & { readonly __?: LinkedNode | null; readonly __source?: ElementLocation };

/**
 * Checks that browsers put an element where its markup has it. In development only.
 *
 * HTML of `dangerouslySetInnerHTML` is not checked. Elements that browsers insert into a table are a mistake in a view
 * only: elsewhere they change nothing.
 *
 * @throws MarkupError for an element of the application. That of a package is logged, because the application cannot
 *   correct it
 */
export function checkNesting(vnode: VNode, type: string, state: RenderState): void {
  if (state.inHead) return;
  const nodes = elementsAround(vnode);
  const names = nodes.map((node) => String(node.type));
  const { type: inputType } = vnode.props as { readonly type?: unknown };
  const isHidden = type === "input" && String(inputType).toLowerCase() === "hidden";
  report(nestingProblem({ name: type, isHidden }, names), { vnode, subject: `<${type}>`, nodes, state });
  if (hasText(vnode))
    report(textProblem([type, ...names]), { vnode, subject: "Text", nodes: [vnode, ...nodes], state });
}

/** Where a problem is. */
interface ProblemLocation {
  readonly vnode: LinkedNode;
  readonly subject: string;
  /** The elements around the subject, the innermost first. */
  readonly nodes: readonly LinkedNode[];
  readonly state: RenderState;
}

function report(problem: NestingProblem | undefined, { vnode, subject, nodes, state }: ProblemLocation): void {
  if (!problem || (problem.isInsertion && state.viewDepth === 0)) return;
  const outer = nodes[problem.ancestor];
  const name = componentAround(vnode);
  const message =
    `${subject} cannot be inside <${String(outer?.type ?? "body")}>${name && ` (${name})`}: browsers ${problem.effect}, so ` +
    `the page differs from the markup${state.viewDepth > 0 ? ", and the view cannot be hydrated" : ""}. ${problem.fix}`;
  const source = vnode.__source ?? outer?.__source;
  if (source) throw new MarkupError(message, source);
  state.warn?.(message);
}

function elementsAround(vnode: LinkedNode): LinkedNode[] {
  const nodes: LinkedNode[] = [];
  for (let node = vnode.__; node; node = node.__) if (typeof node.type === "string") nodes.push(node);
  return nodes;
}

/** Returns the name of the innermost component or view around a node; empty without one. Those of Preact are left out. */
function componentAround(vnode: LinkedNode): string {
  for (let node = vnode.__; node; node = node.__) {
    const name = typeof node.type === "function" && node.type !== Fragment ? (node.type.displayName ?? "") : "";
    if (/^\p{Lu}/u.test(name)) return name;
  }
  return "";
}

function hasText({ props }: VNode): boolean {
  if ("dangerouslySetInnerHTML" in props) return false;
  const children: readonly unknown[] = [props.children].flat(Infinity);
  return children.some((child) => (typeof child === "string" ? /[^ \t\n\f\r]/.test(child) : typeof child === "number"));
}
