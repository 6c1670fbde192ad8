import type { InferRouteParams } from "rou3";
import type { PageSource } from "../protocol/index.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The methods that a route can answer. A HEAD is answered by the route of GET, without the body. */
export type RouteMethod = (typeof METHODS)[number];

/** What a route is declared with: `POST /hooks/stripe`, `GET /files/:name`. */
export type RoutePattern = `${RouteMethod} /${string}`;

/** The path of a route's pattern. */
type PathOf<Pattern extends string> = Pattern extends `${string} ${infer Path}` ? Path : never;

/** A route's function: it gets the request as it came, and the parameters of its path. */
export type RouteFunction<Pattern extends RoutePattern> = (
  request: Request,
  params: InferRouteParams<PathOf<Pattern>>,
) => Response | Promise<Response>;

/** A route, as its module exports it and the application serves it. */
export interface Route<Pattern extends string = string> {
  readonly pattern: Pattern;
}

/** What is behind a route. */
export interface RouteDefinition {
  readonly kind: "route";
  readonly method: RouteMethod;
  readonly path: string;
  readonly run: (request: Request, params: Record<string, string | undefined>) => Response | Promise<Response>;
  readonly source: PageSource;
}

const definitions = new WeakMap<object, RouteDefinition>();

/** Gives what is behind a `route()` export, or nothing for any other value. */
export function routeOf(value: unknown): RouteDefinition | undefined {
  return typeof value === "object" && value !== null ? definitions.get(value) : undefined;
}

/**
 * Marks a raw route, for what is neither a page nor a server function: a webhook, a download.
 *
 * It gets the `Request` as it came and answers a `Response`; `session` and `request` work inside.
 * Every rule of requests holds (ids, security headers, a body of 1 MiB at most) but one: its origin
 * is not checked, since a webhook comes from elsewhere. So let it change nothing on the word of a
 * cookie; check the sender's signature.
 *
 * @throws Error when the module was not compiled, or the pattern is not one
 * @example export const hook = route("POST /hooks/stripe", async (request) => new Response(await handle(request)));
 */
export function route<const Pattern extends RoutePattern>(pattern: Pattern, fn: RouteFunction<Pattern>): Route<Pattern>;
export function route(pattern: string, ...rest: readonly unknown[]): Route {
  const [run, , source] = rest;
  if (typeof source !== "object" || source === null || typeof run !== "function") {
    throw new Error(
      "route() was called in a module that tsweb has not compiled. Run the application with `tsweb dev` or " +
        '`tsweb build`, a script with `node --import tsweb/register`, and tests with the plugin of "tsweb/vite".',
    );
  }
  const [, method, path] = /^([A-Z]+) (\/(?!\/).*)$/.exec(pattern) ?? [];
  if (!METHODS.includes(method as RouteMethod) || path === undefined) {
    throw new Error(
      `route(): ${JSON.stringify(pattern)} is no pattern. It is a method and a path, as "POST /hooks/stripe"; ` +
        `the methods are ${METHODS.join(", ")}.`,
    );
  }
  const exported: Route = Object.freeze({ pattern });
  definitions.set(exported, {
    kind: "route",
    method: method as RouteMethod, // checked above
    path,
    run: run as RouteDefinition["run"], // the overload says what it takes
    source: source as PageSource, // the compile step wrote it
  });
  return exported;
}
