/**
 * JSX for applications: `"jsxImportSource": "tsweb"` in their tsconfig.json.
 *
 * Preact's own runtime makes nodes by a second copy of what `h` does; this is a tenth of its size.
 */
import { h, type VNode } from "preact";

export type { JSX } from "preact";
export { Fragment } from "preact";

/** Makes a node of an element or a component; its children are among its props. */
export function jsx(type: Parameters<typeof h>[0], props: object | null, key?: string | number): VNode {
  // Of the overloads of `h`, the one for whatever type and props JSX has checked.
  return (h as (type: unknown, props: object | null) => VNode)(type, key === undefined ? props : { ...props, key });
}

export { jsx as jsxs };
