import { type ComponentChildren, type ComponentType, Fragment, h, isValidElement, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { ViewSource } from "../protocol/index.ts";

/** An outermost view of a page: what the browser brings to life. */
export interface Island {
  readonly source: ViewSource;
  /** Its props, as JSON. */
  readonly props: string;
}

/** One page being rendered. Rendering is synchronous, so there is one at a time. */
export interface Render {
  /** Whether mistakes that only cost clarity in production are looked for. */
  readonly development: boolean;
  /** Marks the islands' places: another for each answer, so that no HTML in a page can pose as one. */
  readonly mark: string;
  readonly islands: Island[];
  /** What `Head` was given, in order. */
  readonly head: ComponentChildren[];
  /** How many views we are inside of. */
  viewDepth: number;
  /** Whether it is what `Head` was given that is rendered, after the page itself. */
  readonly inHead: boolean;
  /** In development: where the element stands that is being rendered. */
  at?: ElementPlace | undefined;
}

/** Where an element stands in the text, as JSX says it in development: lines and columns from 1. */
export interface ElementPlace {
  readonly fileName: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/**
 * A mistake in markup. In development it brings its place, which its stack has not: the renderer calls
 * components long after their elements were made.
 */
export class MarkupError extends TypeError {
  /** As the build tool's errors have it: columns from 0. */
  declare readonly loc?: { readonly file: string; readonly line: number; readonly column: number };

  constructor(message: string, at = active?.at) {
    super(message);
    if (at) this.loc = { file: at.fileName, line: at.lineNumber, column: at.columnNumber - 1 };
  }
}

let active: Render | undefined;

/** Gives the page being rendered, or nothing where none is (a view rendered in a test, say). */
export function activeRender(): Render | undefined {
  return active;
}

/** Renders markup to HTML, with `render` to note what is met on the way. */
export function renderMarkup(markup: ComponentChildren, render: Render): string {
  const before = active;
  active = render;
  try {
    return renderToString(h(Fragment, null, markup));
  } finally {
    active = before;
  }
}

/** A component that is the body of a view: what is inside of it is alive in the browser. */
const viewBodies = new WeakSet<object>();

/** Notes that a component is the body of a view. */
export function markViewBody(component: object): void {
  viewBodies.add(component);
}

const checked = new WeakMap<object, ComponentType>();

/** Gives a component that fails, with its name, when the one it stands for returns a promise. */
function synchronous(type: ComponentType): ComponentType {
  const known = checked.get(type);
  if (known) return known;
  // A class renders through its own method; a function is called with the component as `this`.
  const isClass = typeof type.prototype?.render === "function";
  const call = type as (this: unknown, props: unknown, context: unknown) => unknown;
  const component = isClass
    ? type
    : Object.assign(function (this: unknown, props: unknown, context: unknown) {
        const markup = call.call(this, props, context);
        refuseAsync(type.displayName || type.name || "A component", markup);
        return markup;
      }, type);
  checked.set(type, component as ComponentType); // it takes and gives what `type` does
  checked.set(component, component as ComponentType);
  if (viewBodies.has(type)) viewBodies.add(component);
  return component as ComponentType;
}

/** @throws MarkupError when a component or a view returned a promise */
export function refuseAsync(name: string, markup: unknown): void {
  if (!isThenable(markup)) return;
  throw new MarkupError(
    `${name} returned a promise. Markup is synchronous: load what it shows in the page function, which may be ` +
      "async, and pass it down.",
  );
}

export function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function refuseDeadHandlers({ type, props }: VNode): void {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value !== "function" || name === "ref" || name === "children") continue;
    throw new MarkupError(
      `<${String(type)}> was given a function (${name}) outside a view: nothing would ever call it. ` +
        "Put the element into a view().",
    );
  }
}

/** The renderer passes over what it cannot show without a word. */
function refuseUnshowable({ type, props: { children } }: VNode): void {
  for (const child of Array.isArray(children) ? children : [children]) {
    const kind = unshowable(child);
    if (kind === "promise") {
      throw new MarkupError(
        `<${String(type)}> was given a promise. Markup is synchronous: await it in the page function, which may be ` +
          "async, and pass down what it gives.",
      );
    }
    if (kind) throw new MarkupError(`<${String(type)}> was given ${kind}, which is no markup: show a text made of it.`);
  }
}

/** Says what kind of object a child is that cannot be shown; nothing for markup. */
export function unshowable(child: unknown): string | undefined {
  if (typeof child !== "object" || child === null || Array.isArray(child) || isValidElement(child)) return undefined;
  if (isThenable(child)) return "promise";
  return `an object (${child.constructor?.name ?? "Object"})`;
}

/**
 * A form that a view handles is sent by nothing else. Before the view is alive a browser would put what was
 * typed, a password too, into the address; of this method, outside a dialog, it does nothing.
 */
function keepFromSending(form: VNode<{ onSubmit?: unknown; method?: unknown; action?: unknown }>): void {
  const { onSubmit, method, action } = form.props;
  if (typeof onSubmit !== "function" || method !== undefined || action !== undefined) return;
  form.props = { ...form.props, method: "dialog" };
}

// The renderer asks these hooks about every node, before and after it. They do nothing when the
// renderer is used by others, outside a page.
const hooks = options as typeof options & { __b?: (vnode: VNode) => void };
const { __b: earlierBefore, diffed: earlierAfter } = hooks;

hooks.__b = (vnode) => {
  if (active) {
    if (active.development) active.at = (vnode as { __source?: ElementPlace }).__source ?? active.at;
    if (typeof vnode.type === "string") {
      if (vnode.type === "form" && active.viewDepth > 0) keepFromSending(vnode);
      if (active.development) {
        refuseUnshowable(vnode);
        if (active.viewDepth === 0) refuseDeadHandlers(vnode);
      }
    } else if (vnode.type !== Fragment) {
      if (viewBodies.has(vnode.type)) active.viewDepth++;
      vnode.type = synchronous(vnode.type as ComponentType);
    }
  }
  earlierBefore?.(vnode);
};

hooks.diffed = (vnode) => {
  if (active && typeof vnode.type === "function" && viewBodies.has(vnode.type)) active.viewDepth--;
  earlierAfter?.(vnode);
};
