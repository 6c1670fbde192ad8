/**
 * The part of the page script that only the development server ships: it reports components that return a promise,
 * and restarts `on_mount` after a hot reload.
 */
import { type Component, options, type VNode } from "preact";

/** A component with internal fields: Preact's, under the minified names that its add-ons use, and ours. */
interface ComponentInternals extends Component {
  /** The hooks of `preact/hooks`. `c` is set for `useContext`. */
  __H?: { __: { c?: unknown; __?: unknown }[] };
  slots?: unknown[];
}

const hooks = options as { __r?: (vnode: VNode & { __c?: ComponentInternals }) => void }; // Preact's types omit it
const previousRender = hooks.__r;

/** The function with which each component rendered last. */
const renderedWith = new WeakMap<ComponentInternals, unknown>();

hooks.__r = (vnode) => {
  const component = vnode.__c;
  if (component) {
    const previous = renderedWith.get(component);
    renderedWith.set(component, component.constructor);
    if (!previous) rejectPromises(component);
    else if (previous !== component.constructor) applyEdit(component, hookCalls(previous));
  }
  previousRender?.(vnode);
};

/** Throws if the component returns a promise: Preact ignores it, or fails with an error that names no component. */
function rejectPromises(component: ComponentInternals): void {
  const render = component.render;
  component.render = function (...args) {
    const markup = render.apply(this, args);
    if (!(markup instanceof Promise)) return markup;
    const name = component.constructor.name || "A component";
    throw new TypeError(
      `${name} returned a promise. Components are synchronous: load the data in the page function, or in on_mount.`,
    );
  };
}

/**
 * Runs the cleanups of a component whose function was replaced by hot reload, so that the new `on_mount` runs. The
 * state is kept if the component's calls of `state()`, `on_mount` and `on_unmount` are the same as before.
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
  return Array.from(String(fn).matchAll(/\b(?:on_mount|on_unmount|state\)?\([^)]*)/g), String).join();
}
