/**
 * The entry point `tsweb/styles`: adds the unit to lengths of `style` objects that are numbers. The compile step imports it
 * in modules with such styles, so other pages do not load it.
 */
import { options, type VNode } from "preact";
import { withUnits } from "../protocol/index.ts";

const previousHook = options.vnode;

options.vnode = (vnode: VNode<{ style?: unknown }>) => {
  const { type, props } = vnode;
  // As in src/pages/rendering.ts. A component may pass it on, and does not expect other values than it was given.
  if (typeof type === "string" && typeof props.style === "object" && props.style) props.style = withUnits(props.style);
  previousHook?.(vnode);
};
