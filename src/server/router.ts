import { addRoute, createRouter, findRoute } from "rou3";
import type { PageDefinition, RouteDefinition } from "../pages/index.ts";

/** The page or route of a path. */
export type RouteMatch =
  | { readonly kind: "page"; readonly page: PageDefinition; readonly params: PathParams }
  | { readonly kind: "route"; readonly route: RouteDefinition; readonly params: PathParams }
  /** The path exists, but not for the method; `allow` is the value of the `Allow` header. */
  | { readonly kind: "method"; readonly allow: string };

/** The decoded parameters of a path. */
export type PathParams = Record<string, string | undefined>;

/** Returns the page or route for a method and a path; `undefined` when the path does not exist. */
export type Router = (method: string, path: string) => RouteMatch | undefined;

/** Creates the router of an application's pages and raw routes. */
export function createAppRouter(pages: readonly PageDefinition[], routes: readonly RouteDefinition[]): Router {
  const router = createRouter<PageDefinition | RouteDefinition>();
  for (const page of pages) addRoute(router, "GET", withUpperCaseDigits(page.path), page);
  for (const route of routes) addRoute(router, route.method, withUpperCaseDigits(route.path), route);
  const methods = [...new Set(["GET", ...routes.map((route) => route.method)])];

  return (requestMethod, requestPath) => {
    const path = withUpperCaseDigits(requestPath);
    const method = requestMethod === "HEAD" ? "GET" : requestMethod;
    const match = findRoute(router, method, path);
    if (match) {
      const { data } = match;
      const params = decodeParams(match.params ?? {});
      return data.kind === "route" ? { kind: "route", route: data, params } : { kind: "page", page: data, params };
    }
    const allowed = methods.filter((candidate) => candidate !== method && findRoute(router, candidate, path));
    if (allowed.length === 0) return undefined;
    const allow = allowed.flatMap((candidate) => (candidate === "GET" ? ["GET", "HEAD"] : [candidate])).join(", ");
    return { kind: "method", allow };
  };
}

/** Returns a path with the hexadecimal digits of its percent-encoding in upper case. @see RFC 3986, section 6.2.2.1 */
function withUpperCaseDigits(path: string): string {
  return path.includes("%") ? path.replace(/%[\da-f]{2}/gi, (encoded) => encoded.toUpperCase()) : path;
}

/** Decodes the parameters of a path, which rou3 returns percent-encoded. Malformed paths were rejected before. */
function decodeParams(params: PathParams): PathParams {
  for (const [name, value] of Object.entries(params)) {
    if (value?.includes("%")) params[name] = decodeURIComponent(value);
  }
  return params;
}
