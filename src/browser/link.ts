import { formatHref, type Linkable } from "../protocol/index.ts";
import { getPageData } from "./page-data.ts";

/** Any parameters: the types of pages and routes have checked them. */
type Link = Linkable<Record<string, string | undefined>>;

/**
 * Returns the stub of a page or a route: its pattern, and its links. Nothing else of it is in the browser.
 *
 * @param pattern the path of a page, or the method and the path of a route
 */
export function link(pattern: string): Link & ({ readonly path: string } | { readonly pattern: string }) {
  const path = pattern.replace(/^\w+ /, "");
  const href: Link["href"] = (params, options) => formatHref(getPageData().base, path, params, options);
  return path === pattern ? { path, href } : { pattern, href };
}
