/** The check for lists without keys, in development. */
import { Fragment, isValidElement, type VNode } from "preact";
import { STATIC_CHILDREN } from "../protocol/index.ts";
import { type MarkupSource, reportWarning } from "./dev-report.ts";

/** A node, with its location, which the development runtime of JSX sets and Preact's types omit. */
export type LocatedNode = VNode & { readonly __source?: MarkupSource };

const reported = new Set<string>();

/**
 * Reports a list whose elements have no keys, once for each location in the source.
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
    if (!isValidElement(child) || (child.key !== undefined && child.key !== null)) continue;
    const source = (child as LocatedNode).__source; // set by the development runtime of JSX
    if (!source || source.fileName.includes("/node_modules/")) continue;
    const id = `${source.fileName}:${source.lineNumber}:${source.columnNumber}`;
    if (sources.has(id)) report(child, name, { id, source });
    sources.add(id);
  }
}

function report({ type }: LocatedNode, name: string, { id, source }: { id: string; source: MarkupSource }): void {
  if (reported.has(id)) return;
  reported.add(id);
  const component = typeof type === "function" ? type.displayName || type.name || "…" : type;
  const element = type === Fragment ? "Fragment" : component;
  const warning = new Error(
    `The <${element}> elements of a list in ${name} have no key. When the list changes, what the user has typed, and ` +
      `the state of components, would move to other elements. Give each the key of its data: <${element} key={item.id}>.`,
  );
  reportWarning(Object.assign(warning, { source }));
}
