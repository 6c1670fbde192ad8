/**
 * The part of the page script that only the development server ships: it reports promises, components of React and
 * `javascript:` URLs in markup, restarts `on_mount` after a hot reload, and lets views recover from errors by an edit.
 */
import "./hydration.ts";
import { Component, options, type VNode } from "preact";
import {
  isPreactCopyError,
  isReactHookError,
  isReactType,
  preactCopyMessage,
  reactMessage,
  scriptUrlAttributes,
  VIEWS_UPDATE_EVENT,
} from "../../protocol/index.ts";
import { componentName } from "./component-name.ts";
import { checkTextareaText, checkUnhandledField } from "./form-checks.ts";
import { finishEdit, startEdit } from "./hot-state.ts";
import { checkMarkup, checkStyleNames } from "./markup-checks.ts";
import { checkEffects } from "./state-checks.ts";

/** A component with internal fields: Preact's, under the minified names that its add-ons use, and ours. */
interface ComponentInternals extends Component {
  /** The hooks of `preact/hooks`. `c` is set for `useContext`. `__h` has the effects that run after the next paint. */
  __H?: { __: { c?: unknown; __?: unknown }[]; __h: { __?: unknown }[] };
}

interface OptionsInternals {
  __r?: (vnode: VNode & { __c?: ComponentInternals }) => void;
  __b?: (vnode: VNode) => void;
  /** Called with an error for each component around it. */
  __e: (error: unknown, node: VNode, ...more: unknown[]) => void;
}

const hooks = options as unknown as OptionsInternals; // Preact's types omit them
const { __r: previousRender, __b: previousDiff, __e: previousCatch } = hooks;
const { diffed: previousDiffed } = options;

options.diffed = (vnode) => {
  checkTextareaText(vnode);
  checkEffects((vnode as { __c?: ComponentInternals }).__c); // set once it is rendered
  previousDiffed?.(vnode);
};

// As the server does for pages (src/pages/rendering.ts). In production the browser has no such checks: the server has
// rendered each view once, and the content security policy forbids scripts in URLs.
hooks.__b = (vnode) => {
  const { type, props } = vnode;
  if (isReactType(type, Component)) throw new TypeError(reactMessage(type));
  if (typeof type === "string") rejectAction(type, props);
  checkUnhandledField(vnode);
  checkStyleNames(vnode);
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

/** The function with which each component rendered last. */
const renderedWith = new WeakMap<ComponentInternals, unknown>();

hooks.__r = (vnode) => {
  const component = vnode.__c;
  if (component) {
    const previous = renderedWith.get(component);
    renderedWith.set(component, component.constructor);
    if (!previous) checkResults(component);
    else if (previous !== component.constructor) applyEdit(component);
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
    const name = componentName(component);
    if (markup instanceof Promise) {
      throw new TypeError(
        `${name} returned a promise. Components are synchronous: load the data in the page function, or in on_mount.`,
      );
    }
    checkMarkup(markup, name);
    finishEdit(component);
    return markup;
  };
}

/**
 * Runs the cleanups of a component whose function was replaced by hot reload, so that the new `on_mount` runs. The states and
 * forms of the component are kept: {@link finishEdit}.
 */
function applyEdit(component: ComponentInternals): void {
  component.componentWillUnmount?.();
  delete component.componentWillUnmount;
  // The cleanup has also ended the subscriptions to contexts: `useContext` has to make new ones.
  for (const hook of component.__H?.__ ?? []) if (hook.c) hook.__ = undefined;
  startEdit(component);
}

let lastError: unknown;
let isIncomplete = false;

// An error that ends the rendering of a component around it leaves the nodes after it without their elements: later
// renderings could fail. A component that is rendered by itself and fails is unchanged, so an edit can keep its state.
hooks.__e = (error, ...more) => {
  isIncomplete ||= error === lastError;
  lastError = error;
  previousCatch(error, ...more);
};

// Unit tests have no window.
globalThis.addEventListener?.(VIEWS_UPDATE_EVENT, (event) => {
  // Prefresh renders in a promise. Preact's own queue reports errors as exceptions, which the page can hold until the server has
  // rendered the page (src/cli/dev/page/error-reports.ts).
  delete options.debounceRendering;
  if (!isIncomplete) return;
  event.preventDefault();
  location.reload();
});
