import { addRoute, createRouter, findRoute } from "rou3";
import { formParameter, type InboundRequest } from "../http/index.ts";
import type { PageDefinition, PageForm, RouteDefinition } from "../pages/index.ts";

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

/** Paths that the framework serves itself, and that show no page. */
const OWN_PATHS = /^\/(?:__web\/|healthz$|readyz$)/;

/**
 * Returns the form that a request sends to a page without script; `null` for any other request.
 *
 * A form is sent to the path at which it was shown: of a page, or of nothing, where the error page contains it. A path
 * that has only routes shows no form, so that its requests are handled as without the parameter. At a path with a page
 * and a route for POST, the parameter decides.
 *
 * @param path the path below the application's base
 * @see docs/protocol.md 15.1
 */
export function findPageForm(inbound: InboundRequest, path: string, router: Router): PageForm | null {
  if (inbound.method !== "POST" || OWN_PATHS.test(path)) return null;
  const parameter = formParameter(inbound.url);
  // No form has an address with a slash at the end, because pages have none.
  if (parameter === null || (path !== "/" && path.endsWith("/"))) return null;
  const match = router("GET", path);
  if (match?.kind === "page") return { parameter, page: match.page, params: match.params };
  return router("POST", path) ? null : { parameter, page: null, params: {} };
}
