/**
 * The entry point `tsweb/jsx-runtime`: JSX for applications with `"jsxImportSource": "tsweb"`.
 *
 * Preact's own runtime contains a second implementation of `h`. This module has a tenth of its size.
 */
import { h, type VNode } from "preact";

export { Fragment } from "preact";
export type { JSX } from "./protocol/index.ts";

/** Returns a node of an element or a component. Its children are in `props`. */
export function jsx(type: Parameters<typeof h>[0], props: object | null, key?: string | number): VNode {
  // JSX has checked type and props, which no single overload of `h` accepts.
  return (h as (type: unknown, props: object | null) => VNode)(type, key === undefined ? props : { ...props, key });
}

export { jsx as jsxs };
