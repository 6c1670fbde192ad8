/** The checks of what components return, of the keys in lists, and of styles, in development. */
import { Fragment, isValidElement, type VNode } from "preact";
import {
  invalidPropMessage,
  isReactElement,
  reactMessage,
  STATIC_CHILDREN,
  unrenderableMessage,
} from "../../protocol/index.ts";
import { closestName } from "../../text/index.ts";
import { checkChangeHandler } from "./form-checks.ts";
import { type LocatedNode, type MarkupSource, reportWarning } from "./report.ts";

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

/** The locations of lists that were reported. */
const reported = new Set<string>();

/**
 * Reports a list whose elements have no keys, or of which two have the same, once for each location in the source.
 *
 * Only elements that the same JSX expression has created several times are reported: the elements of an array literal never
 * change their order. Elements of packages have no location, so they are not reported.
 *
 * @param name the name of the component
 */
function checkKeys(list: readonly unknown[], name: string): void {
  if (STATIC_CHILDREN in list) return;
  const sources = new Set<string>();
  for (const child of list) {
    if (!isValidElement(child)) continue;
    const { key, type, __source: source }: LocatedNode = child; // set by the development runtime of JSX
    if (!source || source.fileName.includes("/node_modules/")) continue;
    const hasKey = key !== undefined && key !== null;
    if (hasKey && typeof key === "object") continue; // equal only if it is the same object
    const location = `${source.fileName}:${source.lineNumber}:${source.columnNumber}`;
    const id = hasKey ? `${location} ${String(key)}` : location; // for Preact, 1 and "1" are equal
    if (sources.has(id)) {
      const element = elementName(type);
      report(hasKey ? repeatedKeyMessage(element, key, name) : missingKeyMessage(element, name), { location, source });
    }
    sources.add(id);
  }
}

function elementName(type: VNode["type"]): string {
  if (type === Fragment) return "Fragment";
  return typeof type === "function" ? type.displayName || type.name || "…" : type;
}

function missingKeyMessage(element: string, name: string): string {
  return (
    `The <${element}> elements of a list in ${name} have no key. When the list changes, what the user has typed, and ` +
    `the state of components, would move to other elements. Give each the key of its data: <${element} key={item.id}>.`
  );
}

function repeatedKeyMessage(element: string, key: unknown, name: string): string {
  return (
    `Two <${element}> elements of a list in ${name} have the same key, ${JSON.stringify(String(key).slice(0, 60))}. When the ` +
    "list changes, what the user has typed, and the state of components, would move from one to the other. Use a value " +
    `that is different for each element, such as an id: <${element} key={item.id}>.`
  );
}

function report(message: string, { location, source }: { location: string; source: MarkupSource }): void {
  if (reported.has(location)) return;
  reported.add(location);
  reportWarning(Object.assign(new Error(message), { source }));
}

/** The names of the properties that this browser knows. */
let known: readonly string[] | undefined;

/**
 * Reports a property of a `style` object that the browser does not know and whose name is similar to one that it knows: it
 * would be ignored without an error.
 *
 * Not reported are other unknown names, because another browser may know them, names with the prefix of a browser, and
 * custom properties. Elements of packages have no location.
 *
 * @param style an object with the names of a style declaration. Default: that of the page; none outside of browsers
 */
export function checkStyleNames({ type, props, __source: source }: LocatedNode, style = styleOfPage()): void {
  if (typeof type !== "string" || !source || source.fileName.includes("/node_modules/")) return;
  const value: unknown = "style" in props ? props.style : undefined;
  if (typeof value !== "object" || value === null || !style) return;
  for (const name of Object.keys(value)) {
    if (name in style || /^(?:--|-?(?:webkit|moz|ms|o)(?=[A-Z-])|\d)/i.test(name)) continue;
    known ??= namesIn(style);
    const similar = closestName(name, known, 2);
    if (similar === undefined) continue;
    const warning = new Error(
      `The style of this <${type}> has the unknown property "${name}", which browsers ignore. Did you mean "${similar}"?`,
    );
    reportWarning(Object.assign(warning, { source }));
  }
}

function styleOfPage(): object | undefined {
  const page: Partial<Document> | undefined = globalThis.document; // missing, or a part of it, in tests
  return page?.documentElement?.style;
}

function namesIn(style: object): string[] {
  const names: string[] = [];
  for (const name in style) if (/^[a-z][a-zA-Z]+$/.test(name) && !/^webkit/.test(name)) names.push(name);
  return names;
}
