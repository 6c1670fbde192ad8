/**
 * The entry point `tsweb/jsx-dev-runtime`: JSX in development, for applications with `"jsxImportSource": "tsweb"`.
 */
import { jsxDEV as createNode } from "preact/jsx-dev-runtime";
import { STATIC_CHILDREN } from "./protocol/index.ts";

export * from "preact/jsx-dev-runtime";
export type { JSX } from "./protocol/index.ts";

/**
 * Returns a node of an element or a component. An undefined component throws here, so that the stack has the location of
 * the element. In production the bundler reports missing exports.
 *
 * @throws TypeError if the component is undefined
 */
export function jsxDEV(...node: Parameters<typeof createNode>): ReturnType<typeof createNode> {
  const [type, props, , isStatic] = node as readonly [unknown, object, unknown?, boolean?]; // Preact's types omit the last
  if (type !== undefined) {
    const { children } = props as { children?: unknown }; // JSX passes an object
    if (isStatic && Array.isArray(children)) Object.defineProperty(children, STATIC_CHILDREN, { value: true });
    return createNode(...node);
  }
  throw new TypeError(
    "The component of this element is undefined. Check its import: its module has no export of this name, or the two " +
      "modules import each other.",
  );
}
