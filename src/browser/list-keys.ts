/** The check for lists without keys, or with equal ones, in development. */
import { Fragment, isValidElement, type VNode } from "preact";
import { STATIC_CHILDREN } from "../protocol/index.ts";
import { type MarkupSource, reportWarning } from "./dev/report.ts";

/** A node, with its location, which the development runtime of JSX sets and Preact's types omit. */
export type LocatedNode = VNode & { readonly __source?: MarkupSource };

const reported = new Set<string>();

/**
 * Reports a list whose elements have no keys, or of which two have the same, once for each location in the source.
 *
 * Only elements that the same JSX expression has created several times are reported: the elements of an array literal never
 * change their order. Elements of packages have no location, so they are not reported.
 *
 * @param name the name of the component
 */
export function checkKeys(list: readonly unknown[], name: string): void {
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
