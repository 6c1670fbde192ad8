import {
  awaitMaybe,
  type HandlerResponse,
  isResponse,
  type MaybeAsync,
  Redirect,
  type RequestContext,
  RequestError,
  redirectTarget,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { handlePageError, type PageSettings } from "../pages/index.ts";
import { FORM_PREFIX, isLivePath, RPC_PREFIX } from "../protocol/index.ts";
import { callerError, errorResponse, redirectedCallResponse } from "../rpc/index.ts";
import type { Router } from "./router.ts";

/** What the function `before` receives. `request` and `session` are available too. */
export interface BeforeInput {
  /**
   * The path without the application's base, percent-decoded. An encoded slash is still `%2F`, so that the path has the
   * segments by which pages and routes are found, and `%252F` is still `%252F`. Outside the base, it is the whole path.
   */
  readonly path: string;
  /**
   * Sets a header of the response, or removes it with `null`. It takes precedence over the options `policy` and
   * `headers`. A header that a route sets itself is kept.
   *
   * @throws Error for a name that tsweb sets for each response, and for a value that is not one line of ASCII text
   */
  set_header(name: string, value: string | null): void;
}

/** The result of {@link Before}: the response, or nothing to let the request pass. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without `return` lets the request pass
export type BeforeResult = Response | Redirect | null | undefined | void;

/** A function that runs before every request, except those of files of the build and of health checks. */
export type Before = (input: BeforeInput) => BeforeResult | Promise<BeforeResult>;

/** The parts of a site that {@link runBefore} uses. */
interface BeforeSite {
  readonly before: Before | undefined;
  readonly base: string;
  readonly log: AppLog;
  readonly router: Router;
  readonly pages: PageSettings;
}

/** How a request is answered: its errors and redirects have another form for scripts than for browsers. */
type AnswerKind = "page" | "route" | "call" | "live";

/**
 * Runs the function `before` of the application. Returns its response, or `null` if the request may pass.
 *
 * It fails closed: with anything but a result that is documented, the request does not pass. Never throws.
 *
 * @param path the path below the base, percent-encoded; `null` outside the base
 * @see docs/protocol.md 2.11
 */
export function* runBefore(
  context: RequestContext,
  path: string | null,
  site: BeforeSite,
): MaybeAsync<HandlerResponse | Response | null> {
  const { before } = site;
  if (!before) return null;
  const { inbound } = context;
  try {
    const result: unknown = yield* awaitMaybe(
      before({
        path: decodePath(path ?? inbound.pathname),
        set_header: (name, value) => context.setHeader(name, value),
      }),
    );
    if (result === undefined || result === null) return null;
    if (isResponse(result)) {
      closeUnlessBodiless(context);
      return result;
    }
    if (result instanceof Redirect) throw result;
    throw new Error(
      `\`before\` of new App returned a value of type ${typeof result}. Return a Response or a redirect to answer the ` +
        "request, and nothing to let it pass.",
    );
  } catch (error) {
    closeUnlessBodiless(context);
    return yield* awaitMaybe(respondWithFailure(context, error, kindOf(inbound.method, path, site), site));
  }
}

/** Closes the connection after the response if the request may have a body, because nothing reads it. */
export function closeUnlessBodiless(context: RequestContext): void {
  const { method, hasUndeclaredBody } = context.inbound;
  if (hasUndeclaredBody || (method !== "GET" && method !== "HEAD")) context.closeConnection = true;
}

function kindOf(method: string, path: string | null, { router }: BeforeSite): AnswerKind {
  if (path === null) return "page";
  if (path.startsWith(RPC_PREFIX) || path.startsWith(FORM_PREFIX)) return "call";
  if (isLivePath(path)) return "live";
  return router(method, path)?.kind === "route" ? "route" : "page";
}

function respondWithFailure(
  context: RequestContext,
  error: unknown,
  kind: AnswerKind,
  { base, log, pages }: BeforeSite,
): HandlerResponse | Promise<HandlerResponse> {
  const subject = "`before` of new App";
  if (kind === "page" || (kind === "route" && error instanceof Redirect)) {
    return handlePageError(context, error, { subject, isLogged: false }, pages);
  }
  if (error instanceof Redirect) {
    // The page of a live request reloads after this status, and `before` can redirect the request of the page.
    const forbidden = new RequestError("forbidden", "This page has to be reloaded.");
    return kind === "call"
      ? redirectedCallResponse(redirectTarget(error, base))
      : errorResponse(forbidden, context, log);
  }
  return errorResponse(callerError(error, context, log, subject), context, log);
}

/** The parameters of a middleware of Express and others, such as `(req, res, next)` or `(context, next)`. */
const MIDDLEWARE =
  /^(?:async\s*)?(?:function\b\s*)?[\w$]*\s*(?<parameters>\(\s*\w+\s*,\s*_?(?:res|response|next)\b[^)]*\))/;

/** @throws TypeError for a function with the parameters of a middleware: it would wait for `next`, or fail at each request */
export function checkBefore(before: Before | undefined): void {
  if (before === undefined || before.length < 2) return;
  const { parameters } = MIDDLEWARE.exec(Function.prototype.toString.call(before))?.groups ?? {};
  if (parameters === undefined) return;
  throw new TypeError(
    `new App: before has the parameters ${parameters.replace(/\s+/g, " ")} of a middleware. It receives one object, ` +
      '{ path, set_header }, and no response: return a Response or redirect("/…") to answer the request, and nothing to let ' +
      'it pass. `request` and `session` of "tsweb" are available in it.',
  );
}

/** Matches the percent sign of a text `%2F`, `%252F` and so on, which was sent percent-encoded. */
const ENCODED_PERCENT = /%(?=(?:25)*2f)/gi;

/**
 * Decodes the segments of a path that was checked with `isValidPath`. An encoded slash stays encoded, and so does the percent sign of a
 * text `%2F`: a rule for one of the two paths never applies to the other.
 */
export function decodePath(path: string): string {
  if (!path.includes("%")) return path;
  return path
    .split("/")
    .map((segment) => decodeURIComponent(segment).replace(ENCODED_PERCENT, "%25").replaceAll("/", "%2F"))
    .join("/");
}
