import { addRoute, createRouter, findRoute } from "rou3";
import type { PageDefinition, RouteDefinition } from "../pages/index.ts";

/** What a request's path leads to. */
export type RouteMatch =
  | { readonly kind: "page"; readonly page: PageDefinition; readonly params: Params }
  | { readonly kind: "route"; readonly route: RouteDefinition; readonly params: Params }
  /** The path is there, but not for this method. */
  | { readonly kind: "method"; readonly allow: string };

/** The parameters of a path, decoded. */
export type Params = Record<string, string | undefined>;

/** Finds what answers a request that is no call. */
export type Router = (method: string, path: string) => RouteMatch | undefined;

/** Makes the router of an application's pages and raw routes. */
export function createAppRouter(pages: readonly PageDefinition[], routes: readonly RouteDefinition[]): Router {
  const router = createRouter<PageDefinition | RouteDefinition>();
  for (const page of pages) addRoute(router, "GET", page.path, page);
  for (const route of routes) addRoute(router, route.method, route.path, route);
  const methods = [...new Set(["GET", ...routes.map((route) => route.method)])];

  return (asked, path) => {
    const method = asked === "HEAD" ? "GET" : asked;
    const match = findRoute(router, method, path);
    if (match) {
      const { data } = match;
      const params = decode(match.params ?? {});
      return data.kind === "route" ? { kind: "route", route: data, params } : { kind: "page", page: data, params };
    }
    const others = methods.filter((other) => other !== method && findRoute(router, other, path));
    if (others.length === 0) return undefined;
    return {
      kind: "method",
      allow: others.flatMap((other) => (other === "GET" ? ["GET", "HEAD"] : [other])).join(", "),
    };
  };
}

/** The router gives parameters as they stand in the path. What could not be decoded was refused before. */
function decode(params: Params): Params {
  for (const [name, value] of Object.entries(params)) {
    if (value?.includes("%")) params[name] = decodeURIComponent(value);
  }
  return params;
}
