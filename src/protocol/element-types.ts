/** The check of what stands for the name of an element in JSX, in development. */

/** The names that the parser of HTML and the renderer accept: of elements, of custom elements and of SVG. */
const ELEMENT_NAME = /^[a-z][^\s/>"'<=]*$/i;

/**
 * Returns why an element cannot be rendered with a type, and how to fix it; `undefined` for components, names of elements,
 * and what React has created, which has a message of its own.
 */
export function invalidTypeMessage(type: unknown): string | undefined {
  if (typeof type === "function" || typeof type === "symbol") return undefined;
  if (typeof type === "string") return ELEMENT_NAME.test(type) ? undefined : textMessage(type);
  if (type === undefined) {
    return (
      "The component of this element is undefined. Check its import: its module has no export of this name, or the two " +
      "modules import each other."
    );
  }
  if (typeof type !== "object" || type === null) return noComponent(String(type));
  if (isModule(type)) {
    const names = Object.keys(type).filter((name) => typeof Reflect.get(type, name) === "function");
    return (
      "The component of this element is a module: its import has the form `import * as name`. Import the component by its " +
      `name: \`import { ${names[0] ?? "Name"} } from "…"\`.`
    );
  }
  // The `constructor` of Preact's elements is no function.
  if (typeof type.constructor !== "function" && "type" in type)
    return "The component of this element is an element already. Render it as a value: `{row}` in place of `<row />`.";
  if ("$$typeof" in type) return undefined;
  if (type instanceof Promise) return noComponent("a promise");
  return noComponent(Array.isArray(type) ? "an array" : "an object");
}

function textMessage(type: string): string {
  const text = JSON.stringify(type.length > 60 ? `${type.slice(0, 60)}…` : type);
  if (!/^data:|\//.test(type))
    return `The element has the name ${text}. Use the name of an element of HTML or a component.`;
  return (
    `The component of this element is the URL ${text}: imports of images and other files are URLs. Write ` +
    '`<img src={url} alt="" />` with the imported name as `src`.'
  );
}

function noComponent(received: string): string {
  return (
    `The component of this element is ${received}. Check its import and its declaration: a component is a function that ` +
    "returns markup."
  );
}

function isModule(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object Module]";
}
