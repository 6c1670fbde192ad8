import { type ComponentChildren, type ComponentType, Fragment, h, isValidElement, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { isPromise } from "../http/index.ts";
import type { ViewSource } from "../protocol/index.ts";

/** An island: an outermost view of a page, which the browser hydrates. */
export interface Island {
  readonly source: ViewSource;
  /** The props, as JSON. */
  readonly props: string;
}

/** The state of one rendering. Rendering is synchronous, so at most one is active. */
export interface RenderState {
  /** Whether to check for mistakes that only have a wrong appearance in production. */
  readonly development: boolean;
  /** A random string in the comments around islands, new for every response: HTML in a page cannot imitate them. */
  readonly mark: string;
  readonly islands: Island[];
  /** The children of all `Head` elements, in order. */
  readonly head: ComponentChildren[];
  /** The number of views around the current node. */
  viewDepth: number;
  /** Whether the children of `Head` are being rendered, after the page itself. */
  readonly inHead: boolean;
  /** In development: the location of the element that is being rendered. */
  location?: ElementLocation | undefined;
}

/** The location of an element in the source, as JSX has it in development. Lines and columns start at 1. */
export interface ElementLocation {
  readonly fileName: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/**
 * Thrown when markup cannot be rendered. In development it has the location of the element. The stack does not have it,
 * because the renderer calls components after their elements were created.
 */
export class MarkupError extends TypeError {
  /** The location in Vite's format: columns start at 0. */
  declare readonly loc?: { readonly file: string; readonly line: number; readonly column: number };

  constructor(message: string, location = active?.location) {
    super(message);
    if (location) {
      this.loc = { file: location.fileName, line: location.lineNumber, column: location.columnNumber - 1 };
    }
  }
}

let active: RenderState | undefined;

/** Returns the active rendering, or `undefined` outside a page, for example in a test that renders a view. */
export function getActiveRender(): RenderState | undefined {
  return active;
}

/** Returns the HTML of markup. Islands and the children of `Head` are collected in `state`. */
export function renderMarkup(markup: ComponentChildren, state: RenderState): string {
  const previous = active;
  active = state;
  try {
    return renderToString(h(Fragment, null, markup));
  } finally {
    active = previous;
  }
}

/** The components that are bodies of views: their markup is hydrated in the browser. */
const viewBodies = new WeakSet<object>();

/** Registers a component as the body of a view. */
export function registerViewBody(component: object): void {
  viewBodies.add(component);
}

/** The result of {@link synchronousComponent}, by component. */
const synchronousComponents = new WeakMap<object, ComponentType>();

/** Returns a component with the same result, which throws an error with its name if the result is a promise. */
function synchronousComponent(type: ComponentType): ComponentType {
  const existing = synchronousComponents.get(type);
  if (existing) return existing;
  // A class component is called by its `render` method, a function component with the component as `this`.
  const isClass = typeof type.prototype?.render === "function";
  const call = type as (this: unknown, props: unknown, context: unknown) => unknown; // not a class, see below
  const wrapped = isClass
    ? type
    : Object.assign(function (this: unknown, props: unknown, context: unknown) {
        const markup = call.call(this, props, context);
        checkSynchronous(type.displayName || type.name || "A component", markup);
        return markup;
      }, type);
  const component = wrapped as ComponentType; // same parameters and result as `type`
  synchronousComponents.set(type, component);
  synchronousComponents.set(component, component);
  if (viewBodies.has(type)) viewBodies.add(component);
  return component;
}

/** @throws MarkupError if the result of a component or a view is a promise */
export function checkSynchronous(name: string, markup: unknown): void {
  if (!isPromise(markup)) return;
  throw new MarkupError(
    `${name} returned a promise. Components are synchronous: load the data in the page function, which may be async, ` +
      "and pass it down.",
  );
}

/** @throws MarkupError if an element outside a view has an event handler, because nothing would call it */
function checkHandlers({ type, props }: VNode): void {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value !== "function" || name === "ref" || name === "children") continue;
    throw new MarkupError(
      `The prop ${name} of <${String(type)}> is a function, which is never called outside a view. ` +
        "Move the element into a view().",
    );
  }
}

/** @throws MarkupError if a child of an element cannot be rendered, because the renderer ignores it silently */
function checkChildren({ type, props: { children } }: VNode): void {
  for (const child of Array.isArray(children) ? children : [children]) {
    const description = describeUnrenderable(child);
    if (description === undefined) continue;
    const fix = isPromise(child)
      ? "Await it in the page function, which may be async, and pass the result down."
      : "Render one of its fields, for example `{user.name}`.";
    throw new MarkupError(`${capitalize(description)} cannot be rendered in <${String(type)}>. ${fix}`);
  }
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a description of a value that cannot be rendered, or `undefined` for markup. */
export function describeUnrenderable(child: unknown): string | undefined {
  if (typeof child !== "object" || child === null || Array.isArray(child) || isValidElement(child)) return undefined;
  if (isPromise(child)) return "a promise";
  return `an object (${child.constructor?.name ?? "Object"})`;
}

/**
 * Sets `method="dialog"` on a form with `onSubmit`. Before hydration, a browser would submit the form with GET and put
 * its fields, passwords included, into the URL. With this method, outside a `<dialog>`, it does nothing.
 */
function preventSubmit(form: VNode<{ onSubmit?: unknown; method?: unknown; action?: unknown }>): void {
  const { onSubmit, method, action } = form.props;
  if (typeof onSubmit !== "function" || method !== undefined || action !== undefined) return;
  form.props = { ...form.props, method: "dialog" };
}

// The renderer calls these hooks before and after every node. They do nothing outside the rendering of a page. The module
// state `active` lives as long as one synchronous rendering.
const hooks = options as typeof options & { __b?: (vnode: VNode) => void }; // Preact's types omit __b
const { __b: previousBefore, diffed: previousAfter } = hooks;

hooks.__b = (vnode) => {
  if (active) {
    // The development runtime of JSX sets __source, which Preact's types omit.
    if (active.development) active.location = (vnode as { __source?: ElementLocation }).__source ?? active.location;
    if (typeof vnode.type === "string") {
      if (vnode.type === "form" && active.viewDepth > 0) preventSubmit(vnode);
      if (active.development) {
        checkChildren(vnode);
        if (active.viewDepth === 0) checkHandlers(vnode);
      }
    } else if (vnode.type !== Fragment) {
      if (viewBodies.has(vnode.type)) active.viewDepth++;
      vnode.type = synchronousComponent(vnode.type as ComponentType); // not a string, checked above
    }
  }
  previousBefore?.(vnode);
};

hooks.diffed = (vnode) => {
  if (active && typeof vnode.type === "function" && viewBodies.has(vnode.type)) active.viewDepth--;
  previousAfter?.(vnode);
};
