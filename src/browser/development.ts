/**
 * The part of the page script that only the development server ships: it reports promises, components of React and
 * `javascript:` URLs in markup, and restarts `on_mount` after a hot reload.
 */
import "./dev-hydration.ts";
import { Component, Fragment, options, type VNode } from "preact";
import {
  isPreactCopyError,
  isReactElement,
  isReactHookError,
  isReactType,
  preactCopyMessage,
  reactMessage,
  scriptUrlAttributes,
} from "../protocol/index.ts";

/** A component with internal fields: Preact's, under the minified names that its add-ons use, and ours. */
interface ComponentInternals extends Component {
  /** The hooks of `preact/hooks`. `c` is set for `useContext`. */
  __H?: { __: { c?: unknown; __?: unknown }[] };
  slots?: unknown[];
}

interface OptionsInternals {
  __r?: (vnode: VNode & { __c?: ComponentInternals }) => void;
  __b?: (vnode: VNode) => void;
}

const hooks = options as OptionsInternals; // Preact's types omit them
const { __r: previousRender, __b: previousDiff } = hooks;

// As the server does for pages (src/pages/rendering.ts). In production the browser has no such checks: the server has
// rendered each view once, and the content security policy forbids scripts in URLs.
hooks.__b = (vnode) => {
  const { type, props } = vnode;
  if (isReactType(type, Component)) throw new TypeError(reactMessage(type));
  if (typeof type === "string" || type === Fragment) rejectUnrenderableChildren(vnode);
  if (typeof type === "string") rejectAction(type, props);
  for (const name of typeof type === "string" ? (scriptUrlAttributes(type, props) ?? []) : []) {
    console.error(
      `The attribute ${name} of <${String(type)}> is a URL that would run as a script of the page. The content security ` +
        'policy forbids that. Accept only URLs that start with "https:", "http:" or "/", and use an event handler to run code.',
    );
  }
  previousDiff?.(vnode);
};

/** Throws for an action that is a function: `tsweb/forms` has replaced all actions, so the page has not loaded it. */
function rejectAction(type: string, props: object): void {
  for (const name of ["action", "formAction"]) {
    if (typeof Reflect.get(props, name) !== "function") continue;
    throw new TypeError(
      `The ${name} of <${type}> is a function, but no module of the page that tsweb has compiled contains such a form. ` +
        "Write the form in a module of the application, or pass the function there to a prop with this name.",
    );
  }
}

function rejectUnrenderableChildren({ type, props: { children } }: VNode): void {
  const list: readonly unknown[] = [children].flat(Infinity);
  list.forEach(rejectReactElement);
  if (!list.some((child) => child instanceof Promise)) return;
  throw new TypeError(
    `A promise cannot be rendered in <${typeof type === "string" ? type : ""}>. Call the server function in an event ` +
      "handler or in on_mount, store its result in state(), and render that.",
  );
}

function rejectReactElement(markup: unknown): void {
  if (isReactElement(markup)) throw new TypeError(reactMessage(markup.type));
}

/** The function with which each component rendered last. */
const renderedWith = new WeakMap<ComponentInternals, unknown>();

hooks.__r = (vnode) => {
  const component = vnode.__c;
  if (component) {
    const previous = renderedWith.get(component);
    renderedWith.set(component, component.constructor);
    if (!previous) checkResults(component);
    else if (previous !== component.constructor) applyEdit(component, hookCalls(previous));
  }
  previousRender?.(vnode);
};

/**
 * Throws if the component returns a promise or an element of React: Preact ignores it, or fails with an error that names no
 * component. An error of React's hooks is replaced by one that names the cause.
 */
function checkResults(component: ComponentInternals): void {
  const render = component.render;
  component.render = function (...args) {
    let markup: ReturnType<typeof render>;
    try {
      markup = render.apply(this, args);
    } catch (cause) {
      if (isReactHookError(cause)) throw new TypeError(reactMessage(component.constructor), { cause });
      if (isPreactCopyError(cause)) throw new TypeError(preactCopyMessage(component.constructor), { cause });
      throw cause;
    }
    [markup].flat(Infinity).forEach(rejectReactElement);
    if (!(markup instanceof Promise)) return markup;
    const name = component.constructor.name || "A component";
    throw new TypeError(
      `${name} returned a promise. Components are synchronous: load the data in the page function, or in on_mount.`,
    );
  };
}

/**
 * Runs the cleanups of a component whose function was replaced by hot reload, so that the new `on_mount` runs. The
 * state is kept if the component's calls of `state()`, `form()`, `on_mount` and `on_unmount` are the same as before.
 */
function applyEdit(component: ComponentInternals, previousCalls: string): void {
  component.componentWillUnmount?.();
  delete component.componentWillUnmount;
  // The cleanup has also ended the subscriptions to contexts: `useContext` has to make new ones.
  for (const hook of component.__H?.__ ?? []) if (hook.c) hook.__ = undefined;
  const kept = hookCalls(component.constructor) === previousCalls ? (component.slots ?? []) : [];
  // The slots of state() are objects; those of on_mount and on_unmount are functions.
  component.slots = kept.map((value) => (typeof value === "function" ? undefined : value));
}

/** Returns the calls that occupy a slot, in order, with the initial values of states. A compiler may wrap the name. */
function hookCalls(fn: unknown): string {
  return Array.from(String(fn).matchAll(/\b(?:on_mount|on_unmount|(?:state|form)\)?\([^)]*)/g), String).join();
}
