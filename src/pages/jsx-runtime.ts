/**
 * The entry point `tsweb/jsx-runtime` on the server. `package.json` selects between it and `src/jsx-runtime.ts`, which is
 * smaller, by the condition `browser`.
 */
import { h, type VNode } from "preact";
import { jsx as createNode } from "preact/jsx-runtime";

export { Fragment } from "preact";
export type { JSX } from "../protocol/index.ts";
export { waited } from "./page-waits.ts";
export { template } from "./template-node.ts";

/** Returns a node of an element or a component. Its children are in `props`, which become those of the node. */
export function jsx(type: Parameters<typeof h>[0], props: object | null, key?: string | number): VNode {
  // Like `h`, which would copy the props; but a key among spread props is no prop.
  if (props !== null && !("key" in props)) return createNode(type as string, props, key as string);
  return (h as (type: unknown, props: object | null) => VNode)(type, key === undefined ? props : { ...props, key });
}

export { jsx as jsxs };
