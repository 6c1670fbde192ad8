import { type ComponentChildren, h, isValidElement, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { hasWholeParameter, type RequestContext, requireContext } from "../http/index.ts";
import { describeUnrenderable, type Markup } from "../protocol/index.ts";
import { PLACEHOLDER_END, partName, placeholderStart } from "./document.ts";
import { partPlaceProblem } from "./html-nesting.ts";
import { FALLBACK, getActiveRender, InsideFallback, type LinkedNode, MarkupError, type Part } from "./render-state.ts";
import { htmlAround } from "./template-node.ts";

interface LaterProps {
  /** What the browser shows until the part arrives. Without it, nothing. */
  readonly fallback?: Markup;
  /** Returns the markup of the part. It may be async, and runs after the rest of the page was sent. */
  readonly children: () => Markup | Promise<Markup>;
}

/** A component of Preact's renderer, with its internal field for its node. */
type This = { readonly __v?: LinkedNode } | undefined;

/**
 * A component for a part of a page that the rest of the page does not wait for: the browser shows `fallback` until the part
 * arrives. It can be used anywhere in the markup of a page or its layout, except in views, in `Head`, in a fallback, and in elements
 * whose contents are text, SVG or MathML.
 *
 * Its function runs after the status, the headers and the cookies of the page were sent: it can read `request` and `session`, and
 * change neither. An error is shown in the place of the part, by the `error` of the application. Clients other than browsers
 * receive the whole page at once.
 *
 * @throws MarkupError if its child is no function, or it cannot be where it is
 * @see docs/protocol.md 11.9
 * @example <Later fallback={<p>Loading the figures…</p>}>{async () => <Figures data={await figures()} />}</Later>
 */
export const Later: (props: LaterProps) => Markup = function Later(
  this: This,
  { fallback, children }: LaterProps,
  context?: unknown,
) {
  const state = getActiveRender();
  const isInFallback = useContext(InsideFallback) !== null;
  if (!state) return fallback ?? null;
  checkChild(children);
  if (state.viewDepth > 0) {
    throw new MarkupError(
      "<Later> is used inside a view, which the browser renders. Move it into the page, outside the view, or load the data " +
        "in on_mount.",
    );
  }
  if (state.inHead)
    throw new MarkupError("<Later> is used inside <Head>, which is sent first. Await its data in the page.");
  if (isInFallback) throw new MarkupError("<Later> is used inside the fallback of another <Later>, which is replaced.");
  const { list, rendered } = state.parts;
  const around = [...elementsAround(this?.__v), ...(rendered?.around ?? [])];
  const problem = partPlaceProblem(around);
  if (problem) throw new MarkupError(problem);
  const name = partName(state.mark, list.length);
  if (state.forms.open) state.forms.open.hasParts = true;
  list.push({
    index: list.length,
    name,
    run: children,
    context: context as object, // the renderer passes the values of contexts, by their ids
    location: state.location,
    form: state.forms.open,
    select: state.forms.select,
    around,
  });
  state.parts.isStreamed ??= streamsParts(requireContext("<Later>"));
  if (!state.parts.isStreamed) return htmlAround(partComment(name), null, "");
  const shown = h(InsideFallback.Provider, { value: FALLBACK, children: fallback as ComponentChildren });
  return htmlAround(placeholderStart(name), shown, PLACEHOLDER_END);
} as (props: LaterProps) => Markup; // Preact passes `this` and the context, which its types omit

function checkChild(child: unknown): asserts child is Part["run"] {
  if (typeof child === "function") return;
  const name = isValidElement(child) ? nameOf(child) : "Figures";
  const markup = /^[a-z]/.test(name) ? `<${name}>{await load()}</${name}>` : `<${name} data={await load()} />`;
  throw new MarkupError(
    `<Later> has ${describeChild(child)}. Its only child must be a function, which awaits the data and passes it to components, ` +
      `which are synchronous: <Later fallback={…}>{async () => ${markup}}</Later>.`,
  );
}

function describeChild(child: unknown): string {
  if (child === undefined || child === null) return "no child";
  if (Array.isArray(child)) return `${child.length} children`;
  if (isValidElement(child)) return `the element <${nameOf(child)}> as its child`;
  const description = describeUnrenderable(child);
  return description ? `${description} as its child` : `${JSON.stringify(child)?.slice(0, 60)} as its child`;
}

function nameOf({ type }: VNode): string {
  if (typeof type === "string") return type;
  return type.displayName || type.name || "Figures";
}

/**
 * Returns whether the parts of a page are sent after it: only to a browser that loads the page as a document and has not requested
 * the whole. Any other client receives the parts in their places: crawlers, scripts, `visitor()` and HEAD.
 *
 * @see https://www.w3.org/TR/fetch-metadata/#sec-fetch-mode-header
 * @see docs/protocol.md 11.9
 */
function streamsParts({ inbound }: RequestContext): boolean {
  return inbound.method === "GET" && inbound.header("sec-fetch-mode") === "navigate" && !hasWholeParameter(inbound.url);
}

/** Returns what stands for a part in a document that is sent with its parts in place. */
export function partComment(name: string): string {
  return `<!--${name}-->`;
}

/** Returns the names of the elements around a component, the innermost first. */
function elementsAround(component: LinkedNode | undefined): string[] {
  const names: string[] = [];
  for (let node = component?.__; node; node = node.__) if (typeof node.type === "string") names.push(node.type);
  return names;
}
