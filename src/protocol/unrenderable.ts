/** Objects as children of elements: the renderers of the server and of the browser ignore them. */
import { isReactElement } from "./react-markup.ts";

/** Returns a description of a value that cannot be rendered, or `undefined` for markup. */
export function describeUnrenderable(child: unknown): string | undefined {
  // The `constructor` of elements is no function. Preact renders instances of String as text.
  if (
    typeof child !== "object" ||
    child === null ||
    typeof child.constructor !== "function" ||
    child instanceof String
  ) {
    return undefined;
  }
  if (Array.isArray(child) || isReactElement(child)) return undefined; // elements of React have a message of their own
  if (isThenable(child)) return "a promise";
  return `an object (${child.constructor.name || "Object"})`;
}

/**
 * Returns the message for a child that is an object, or `undefined` for markup and for a promise.
 *
 * @param where where it is rendered: `<p>`
 */
export function unrenderableMessage(child: unknown, where: string): string | undefined {
  const description = describeUnrenderable(child);
  if (description === undefined || isThenable(child)) return undefined;
  const fix = fixOf(child as object); // describeUnrenderable describes objects only
  return `A${description.slice(1)} cannot be rendered in ${where}. ${fix}`;
}

function fixOf(child: object): string {
  // Elements and events of browsers: their own fields are those of Preact.
  if ("nodeType" in child || "currentTarget" in child) {
    return "Store what you need of it, for example `event.currentTarget.value`, and render that.";
  }
  const fields = Object.keys(child);
  if (fields.length === 0) {
    const text = child instanceof Date ? "date.toISOString()" : "String(value)";
    return `Render a text that is made of it, for example \`{${text}}\`.`;
  }
  const names = `${fields.slice(0, 5).join(", ")}${fields.length > 5 ? ", …" : ""}`;
  return `Render one of its fields (${names}), for example \`{user.${fields[0]}}\`.`;
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown }).then === "function"; // called for objects only
}
