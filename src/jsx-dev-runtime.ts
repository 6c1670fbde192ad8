/** JSX for applications in development: `"jsxImportSource": "tsweb"` in their tsconfig.json. */
import { jsxDEV as make } from "preact/jsx-dev-runtime";

export * from "preact/jsx-dev-runtime";

/**
 * Makes a node of an element or a component. One of nothing is refused here, at its place in the text; a
 * build finds it by itself.
 *
 * @throws TypeError for a component that is undefined
 */
export function jsxDEV(...node: Parameters<typeof make>): ReturnType<typeof make> {
  if (node[0] !== undefined) return make(...node);
  throw new TypeError(
    "The component of this element is undefined. Look at its import: the module it comes from has no export of that " +
      "name, or imports this module in turn.",
  );
}
