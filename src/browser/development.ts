/**
 * What only development ships, beside the page script: mistakes said in words, and views that
 * follow an edit. In production names are minified, and nothing is edited.
 */
import { type Component, options, type VNode } from "preact";

/** A component as it lives: Preact's fields under their published names, and ours. */
interface Living extends Component {
  /** The state of `preact/hooks`; `c` is the context of one that reads a context. */
  __H?: { __: { c?: unknown; __?: unknown }[] };
  slots?: unknown[];
}

const hooks = options as { __r?: (vnode: VNode & { __c?: Living }) => void }; // it is not in the published type
const earlier = hooks.__r;

/** The function that each component last rendered with. */
const rendered = new WeakMap<Living, unknown>();

hooks.__r = (vnode) => {
  const component = vnode.__c;
  if (component) {
    const last = rendered.get(component);
    rendered.set(component, component.constructor);
    if (!last) refusePromises(component);
    else if (last !== component.constructor) followEdit(component, outline(last));
  }
  earlier?.(vnode);
};

/** Preact passes over a promise where markup should be, or stumbles with an error that names nobody. */
function refusePromises(component: Living): void {
  const render = component.render;
  component.render = function (...args) {
    const markup = render.apply(this, args);
    if (!(markup instanceof Promise)) return markup;
    const name = component.constructor.name || "A component";
    throw new TypeError(
      `${name} returned a promise. Markup is synchronous: load what it shows in the page function, or in on_mount.`,
    );
  };
}

/**
 * Hot reload has given a living component another function: what `on_mount` began is ended and begun
 * anew, as it is written now. Its state is kept, unless its `state()` calls are others than before.
 */
function followEdit(component: Living, before: string): void {
  component.componentWillUnmount?.();
  delete component.componentWillUnmount;
  // Leaving has ended what it reads of contexts too: to be asked for again.
  for (const hook of component.__H?.__ ?? []) if (hook.c) hook.__ = undefined;
  const kept = outline(component.constructor) === before ? (component.slots ?? []) : [];
  // States are objects; what is kept for on_mount and on_unmount are functions.
  component.slots = kept.map((one) => (typeof one === "function" ? undefined : one));
}

/** The calls that keep something for a component, in order, with what states begin with. A compiler may wrap the name. */
function outline(fn: unknown): string {
  return Array.from(String(fn).matchAll(/\b(?:on_mount|on_unmount|state\)?\([^)]*)/g), String).join();
}
