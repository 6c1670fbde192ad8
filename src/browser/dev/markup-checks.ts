/** The checks of what components return, in development. */
import { Fragment, isValidElement } from "preact";
import { invalidPropMessage, isReactElement, reactMessage, unrenderableMessage } from "../../protocol/index.ts";
import { checkChangeHandler } from "../change-handlers.ts";
import { checkKeys, type LocatedNode } from "../list-keys.ts";

/**
 * Checks the markup that a component has returned, before Preact renders it: Preact ignores what it cannot render, and it
 * writes its own fields to objects, which changes a state that is rendered. Children of components are checked where a
 * component returns them.
 *
 * @param name the name of the component
 * @throws TypeError for an object, a promise and an element of React, with the location of the element around it; and for an
 *   attribute that cannot work
 */
export function checkMarkup(markup: unknown, name: string, parent?: LocatedNode): void {
  if (Array.isArray(markup)) {
    checkKeys(markup, name);
    for (const child of markup) checkMarkup(child, name, parent);
  } else if (isValidElement(markup)) {
    const isRendered = typeof markup.type === "string" || markup.type === Fragment;
    checkChangeHandler(markup);
    checkProps(markup);
    if (isRendered) checkMarkup(markup.props.children, name, markup);
  } else {
    const message = describeProblem(markup, parent, name);
    if (message) throw Object.assign(new TypeError(message), { source: parent?.__source });
  }
}

/** Elements of packages have no location, so they are not checked: the application cannot correct them. */
function checkProps({ type, props, __source: source }: LocatedNode): void {
  if (typeof type !== "string" || !source || source.fileName.includes("/node_modules/")) return;
  const message = invalidPropMessage(type, props);
  if (message) throw Object.assign(new TypeError(message), { source });
}

function describeProblem(child: unknown, parent: LocatedNode | undefined, name: string): string | undefined {
  if (isReactElement(child)) return reactMessage(child.type);
  const element = `<${typeof parent?.type === "string" ? parent.type : ""}>`;
  if (child instanceof Promise) {
    return (
      `A promise cannot be rendered in ${element}. Call the server function in an event handler or in on_mount, store ` +
      "its result in state(), and render that."
    );
  }
  return unrenderableMessage(child, parent ? `${element} of ${name}` : name);
}
