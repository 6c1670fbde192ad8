import type { VNode } from "preact";

/**
 * Removes event handlers of JSX, such as `onClick`, that are no functions. The renderer would write them as attributes, and
 * HTML does not distinguish `onClick` from `onclick`: the value, which may be the data of a user, would be the code of an
 * inline handler. The content security policy forbids those too, but an application can weaken it.
 *
 * Attributes in lower case are those of HTML, which an application writes on purpose. Custom elements define their own.
 */
export function removeTextHandlers(vnode: VNode, type: string): void {
  for (const name in vnode.props) {
    if (!isTextHandler(name, vnode.props[name as never]) || type.includes("-")) continue; // a key of the object
    vnode.props = Object.fromEntries(
      Object.entries(vnode.props).filter(([key, value]) => !isTextHandler(key, value)),
    ) as VNode["props"]; // a subset of the props
    return;
  }
}

/**
 * Returns whether an attribute is an event handler in any spelling but that of HTML. Each attribute of each page is tested, so the
 * name comes first: few begin like this.
 */
function isTextHandler(name: string, value: unknown): boolean {
  if ((name.charCodeAt(0) | LOWER_CASE) !== 0x6f || (name.charCodeAt(1) | LOWER_CASE) !== 0x6e) return false;
  return /^on[a-z]/i.test(name) && name !== name.toLowerCase() && typeof value !== "function";
}

/** The bit by which an ASCII letter in lower case differs from the same letter in upper case. */
const LOWER_CASE = 0x20;
