import type { InferRouteParams } from "rou3";
import {
  checkMaxBody,
  findUnreadableBody,
  type LimitedRequest,
  MAX_BODY_BYTES,
  withLimitedBody,
  withUploadLimits,
} from "../bodies/index.ts";
import { rejectUnknownOptions } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import {
  disconnectedError,
  type HandlerResponse,
  isDisconnection,
  isResponse,
  PRIVATE_NO_STORE,
  publicOrigin,
  Redirect,
  type RequestContext,
} from "../http/index.ts";
import type { Linkable, PageSource } from "../protocol/index.ts";
import { callerErrorOfFunction, errorResponse } from "../rpc/index.ts";
import { redirectResponse } from "./handle-page-error.ts";
import { createHref, type Href } from "./links.ts";
import type { PageSettings } from "./render-document.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The methods of routes. The route of GET also handles HEAD; its body is not sent. */
export type RouteMethod = (typeof METHODS)[number];

/** The pattern of a route: `POST /hooks/stripe`, `GET /files/:name`. */
export type RoutePattern = `${RouteMethod} /${string}`;

/** The path in a pattern. */
type PathOf<Pattern extends string> = Pattern extends `${string} ${infer Path}` ? Path : never;

/** The function of a route. It receives the request, unchanged, and the parameters of the path. */
export type RouteFunction<Pattern extends RoutePattern> = (
  request: Request,
  params: InferRouteParams<PathOf<Pattern>>,
) => RouteResult | Promise<RouteResult>;

/** The result of a route. */
export type RouteResult = Response | Redirect;

/** A route, as a module exports it. */
export interface Route<Pattern extends string = string> extends Linkable<InferRouteParams<PathOf<Pattern>>> {
  readonly pattern: Pattern;
}

/** The options of a route. */
export interface RouteOptions {
  /**
   * The maximum size of the request body, in bytes. The default is the application's `max_body`, or 1 MiB. With more than
   * 1 MiB, the time limits of uploads apply to the body.
   */
  readonly max_body?: number;
}

const OPTIONS: Readonly<Record<keyof RouteOptions, true>> = { max_body: true };

/** The definition of a route. */
export interface RouteDefinition {
  readonly kind: "route";
  readonly href: Href;
  readonly options: RouteOptions;
  readonly method: RouteMethod;
  readonly path: string;
  readonly run: (request: Request, params: Record<string, string | undefined>) => RouteResult | Promise<RouteResult>;
  readonly source: PageSource;
}

const definitions = new WeakMap<object, RouteDefinition>();

/** Returns the definition of a route, or `undefined` if the value is not a route. */
export function routeOf(value: unknown): RouteDefinition | undefined {
  return typeof value === "object" && value !== null ? definitions.get(value) : undefined;
}

/**
 * Declares a route: a handler for requests that are neither a page nor a call, for example a webhook or a download.
 *
 * All rules of requests apply (ids, security headers, a limited body), except the origin check, because webhooks
 * come from other sites. So a route must never trust a cookie for a change (cross-site request forgery): verify the
 * sender's signature. `session` and `request` are available.
 *
 * @param pattern a method and a path, which may have parameters. A GET route also handles HEAD.
 * @param fn receives the `Request` unchanged and the decoded parameters, and returns a `Response` or a `redirect`.
 *   Without `Cache-Control`, the response is not cached. An error becomes a JSON response, as for server functions.
 * @throws Error if the module was not compiled or the pattern is invalid
 * @see docs/protocol.md 11.4
 * @example export const hook = route("POST /hooks/stripe", async (request) => new Response(await handle(request)));
 */
export function route<const Pattern extends RoutePattern>(pattern: Pattern, fn: RouteFunction<Pattern>): Route<Pattern>;
/** Declares a route with options, see {@link RouteOptions}. */
export function route<const Pattern extends RoutePattern>(
  pattern: Pattern,
  options: RouteOptions,
  fn: RouteFunction<Pattern>,
): Route<Pattern>;
export function route(pattern: string, ...args: readonly unknown[]): Route {
  const [first, second, source] = args;
  const [options, run] = typeof first === "function" ? [{}, first] : [first, second];
  if (typeof source !== "object" || source === null || typeof run !== "function") {
    throw new Error(
      "route() was called in a module that tsweb has not compiled. Run the application with `tsweb dev` or " +
        '`tsweb build`, a script with `node --import tsweb/register`, and tests with the plugin of "tsweb/vite".',
    );
  }
  const [, method, path] = /^([A-Z]+) (\/(?!\/).*)$/.exec(pattern) ?? [];
  if (!METHODS.includes(method as RouteMethod) || path === undefined) {
    throw new Error(
      `route(): Invalid pattern ${JSON.stringify(pattern)}. A pattern is a method and a path, for example ` +
        `"POST /hooks/stripe". Methods: ${METHODS.join(", ")}.`,
    );
  }
  checkOptions(options, `route(${JSON.stringify(pattern)})`);
  const href = createHref(path);
  const exported: Route = Object.freeze({ pattern, href });
  definitions.set(exported, {
    kind: "route",
    href,
    options,
    method: method as RouteMethod, // checked above
    path,
    run: run as RouteDefinition["run"], // checked by the type of the overload
    source: source as PageSource, // added by the compiler
  });
  return exported;
}

function checkOptions(options: unknown, location: string): asserts options is RouteOptions {
  rejectUnknownOptions(options, OPTIONS, location);
  checkMaxBody((options as { readonly max_body?: unknown }).max_body, location); // an object: checked above
}

/** What a route is handled with. */
interface RouteSettings extends Pick<PageSettings, "base" | "log" | "reportRedirectLoop"> {
  /** The maximum size of the body, in bytes. */
  readonly maxBody: number;
}

/**
 * Handles the request of a route. A redirect has the status 303. An error becomes a JSON response, as for server
 * functions.
 *
 * @see docs/protocol.md 11.4
 */
export async function handleRoute(
  context: RequestContext,
  route: RouteDefinition,
  params: Record<string, string | undefined>,
  settings: RouteSettings,
): Promise<HandlerResponse | Response> {
  const { log, maxBody } = settings;
  const subject = `The route ${route.method} ${route.path}`;
  const { inbound } = context;
  inbound.publicOrigin = publicOrigin(context);
  let limited: LimitedRequest | undefined;
  let unreadableBody: ReturnType<typeof findUnreadableBody> | undefined;
  try {
    limited = maxBody > MAX_BODY_BYTES ? withUploadLimits(context, maxBody) : withLimitedBody(context, maxBody);
    if (inbound.method !== "GET" && inbound.method !== "HEAD") unreadableBody = findUnreadableBody(limited.request);
    const response = await route.run(limited.request, params);
    if (response instanceof Redirect) return redirectResponse(context, response, settings);
    if (!isResponse(response)) throw new Error(noResponseMessage(route, response));
    return response;
  } catch (error) {
    if (error instanceof Redirect) return redirectResponse(context, error, settings);
    const failure = isBodyLost(context, error)
      ? disconnectedError()
      : callerErrorOfFunction(unreadableBody?.(error) ?? error, context, log, subject);
    const refused = errorResponse(failure, context, log);
    // A browser can show the response of a route as a document, also for Back.
    return { ...refused, headers: { ...refused.headers, ...PRIVATE_NO_STORE } };
  } finally {
    // The rest of a body of unknown length has no limit.
    if (limited?.isBodyChecked() === false) context.closeConnection = true;
  }
}

function noResponseMessage({ method, path, source }: RouteDefinition, value: unknown): string {
  return (
    `The route ${method} ${path} (${source.file}:${source.line}) returned ${value === null ? "null" : `a value of type ${typeof value}`}. ` +
    "Return a Response, for example `Response.json(value)` or `new Response(text)`, or a redirect."
  );
}

/**
 * Returns whether the error may be a consequence of the client's disconnection. What reading the rest of a body then
 * throws depends on the host, so with a body every error except an `RPCError` may be one.
 */
function isBodyLost(context: RequestContext, error: unknown): boolean {
  if (isDisconnection(context, error)) return true;
  return context.isBodyInRoute && context.raw.signal.aborted && !(error instanceof RPCError);
}
