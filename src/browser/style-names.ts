/** The check for misspelled properties in the object of `style`, in development. */
import { closestName } from "../text/index.ts";
import { reportWarning } from "./dev/report.ts";
import type { LocatedNode } from "./list-keys.ts";

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
