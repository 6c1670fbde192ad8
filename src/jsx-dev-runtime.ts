/**
 * The entry point `tsweb/jsx-dev-runtime`: JSX in development, for applications with `"jsxImportSource": "tsweb"`.
 */
import { jsxDEV as createNode } from "preact/jsx-dev-runtime";
import { invalidTypeMessage, STATIC_CHILDREN } from "./protocol/index.ts";

export * from "preact/jsx-dev-runtime";
export type { JSX } from "./protocol/index.ts";

/**
 * Returns a node of an element or a component. What is neither throws here, so that the stack has the location of the
 * element. In production the bundler reports missing exports.
 *
 * @throws TypeError if the type is no component and no name of an element: undefined, the URL of an image
 */
export function jsxDEV(...node: Parameters<typeof createNode>): ReturnType<typeof createNode> {
  const [type, props, , isStatic] = node as readonly [unknown, object, unknown?, boolean?]; // Preact's types omit the last
  const message = invalidTypeMessage(type);
  if (message !== undefined) throw new TypeError(message);
  const { children } = props as { children?: unknown }; // JSX passes an object
  if (isStatic && Array.isArray(children)) Object.defineProperty(children, STATIC_CHILDREN, { value: true });
  return createNode(...node);
}
