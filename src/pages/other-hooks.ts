import type { VNode } from "preact";
import "preact/hooks"; // sets its hooks, so that those which are set later are of other code

/**
 * Returns whether a hook of Preact's `options` reads more of a node than its component, as the hooks of `preact/hooks` do.
 * Such a hook may change elements. Errs towards yes.
 */
export function readsNode(hook: (vnode: VNode) => void): boolean {
  let isRead = false;
  const get = (_target: object, name: string | symbol) => {
    isRead ||= name !== "__c"; // Preact's internal field of the component, under its minified name
    return undefined;
  };
  try {
    hook(new Proxy({}, { get }) as VNode); // a node of which only reads are of interest
  } catch {
    return true; // it needs a real node
  }
  return isRead;
}
