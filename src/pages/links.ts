import { currentContext, LINKED_SITE } from "../http/index.ts";
import { formatHref, type Linkable } from "../protocol/index.ts";

/** Any parameters: the types of pages and routes have checked them. */
export type Href = Linkable<Record<string, string | undefined>>["href"];

/** The base of the last application that was created with a page or route, for links outside of its requests. */
const bases = new WeakMap<object, string>();

/** The pages and routes that were linked to before an application with them was created, so that its base was not known. */
const linkedEarly = new WeakSet<object>();

/** Returns the `href` of a page or a route with this path. */
export function createHref(path: string): Href {
  const href: Href = (params, options) => {
    const base = currentContext()?.get(LINKED_SITE)?.base ?? bases.get(href);
    if (base === undefined) linkedEarly.add(href);
    return formatHref(base ?? "", path, params, options);
  };
  return href;
}

interface LinkedEndpoint {
  readonly kind: "page" | "route";
  readonly path: string;
  readonly href: Href;
}

/**
 * Sets the base of the links to a page or a route.
 *
 * @throws Error if there were links to it already, which do not have the base
 */
export function setLinkBase({ href, kind, path }: LinkedEndpoint, base: string): void {
  bases.set(href, base);
  if (base === "" || !linkedEarly.has(href)) return;
  throw new Error(
    `href() of the ${kind} ${path} was called before new App({ base: ${JSON.stringify(base)} }), so that its link has no base. Call it inside of a function.`,
  );
}
