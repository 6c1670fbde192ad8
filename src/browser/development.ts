/**
 * What only development ships, beside the page script: mistakes said in words. In production names
 * are minified, and what the server renders has been looked at there.
 */
import { type Component, options, type VNode } from "preact";

/** A component as it is rendered, under Preact's published names. */
interface Rendered extends VNode {
  __c?: Component;
}

const hooks = options as { __r?: (vnode: Rendered) => void }; // it is not in the published type
const earlier = hooks.__r;
const checked = new WeakSet<Component>();

// Preact passes over a promise where markup should be, or stumbles with an error that names nobody.
hooks.__r = (vnode) => {
  earlier?.(vnode);
  const component = vnode.__c;
  if (!component || checked.has(component)) return;
  checked.add(component);
  const render = component.render;
  component.render = function (...args) {
    const markup = render.apply(this, args);
    if (markup instanceof Promise) throw new TypeError(promised(this));
    return markup;
  };
};

function promised(component: Component): string {
  const name = component.constructor.name || "A component";
  return `${name} returned a promise. Markup is synchronous: load what it shows in on_mount.`;
}
