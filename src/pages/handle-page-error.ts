import { RPCError, statusOf } from "../errors.ts";
import {
  disconnectedError,
  forgetOnce,
  type HandlerResponse,
  htmlResponse,
  isDisconnection,
  isPromise,
  isSitePath,
  logExpectedError,
  logRefusal,
  PRIVATE_NO_STORE,
  pathBelowBase,
  Redirect,
  type RequestContext,
  redirect,
  redirectTarget,
  textResponse,
  UnavailableError,
} from "../http/index.ts";
import { errorHeaders, keepsCookies } from "../rpc/index.ts";
import { session } from "../session/index.ts";
import { browserGlobalAdvice } from "../text/index.ts";
import { DefaultError, type ErrorPageProps, errorTitle, isPageError } from "./error-page.ts";
import { attempt, type LayoutMarkup, type LayoutOutcome, NO_LAYOUT_MARKUP, startLayout } from "./layout.ts";
import { type PageSettings, renderDocument } from "./render-document.ts";

/** The page that has failed. */
export interface FailedPage {
  /** The subject of the log line: `The page /users`. */
  readonly subject: string;
  /**
   * What the layout of the application has returned for this request, if it was not rendered; `null` if this layout is
   * what failed. Default: the layout is run.
   */
  readonly layoutMarkup?: LayoutMarkup | null;
  /** Whether an error for the user is logged. `false`: any client can cause it as often as it likes. Default: `true`. */
  readonly isLogged?: boolean;
}

/**
 * Returns the response for what a page or its layout has thrown: a redirect, the error page with 401, 403, 404 or 429, or 500
 * with a log line. Never rejects.
 *
 * @see docs/protocol.md 11.2 and 11.3
 */
export async function handlePageError(
  context: RequestContext,
  error: unknown,
  { subject, layoutMarkup, isLogged = true }: FailedPage,
  settings: PageSettings,
): Promise<HandlerResponse> {
  const redirect = error instanceof Redirect ? error : signInRedirect(context, error, settings);
  if (redirect) return redirectResponse(context, redirect, settings);
  if (isPageError(error)) {
    if (isLogged) logExpectedError(error, context, settings.log, subject);
    const failure = { status: statusOf(error.code), message: error.message, layoutMarkup };
    const response = await respondWithErrorPage(context, failure, settings);
    return error.code === "rate_limited"
      ? { ...response, headers: { ...response.headers, ...errorHeaders(error) } }
      : response;
  }
  recordFailure(context, error, subject, settings);
  if (context.unavailable || isDisconnection(context, error)) return disconnectedResponse();
  if (error instanceof UnavailableError) return respondUnavailable(context, error, layoutMarkup, settings);
  if (settings.showError) return htmlResponse(500, await settings.showError(error, context.id));
  // The layout has seen the state that was discarded, so it is run again.
  const failure = {
    status: 500,
    message: "Something went wrong on the server.",
    layoutMarkup: layoutMarkup === null ? null : undefined,
  };
  return respondWithErrorPage(context, failure, settings);
}

/** How long a client should wait before it requests a page again, in seconds. */
const RETRY_SECONDS = 2;

async function respondUnavailable(
  context: RequestContext,
  { status, message }: UnavailableError,
  layoutMarkup: LayoutMarkup | null | undefined,
  settings: PageSettings,
): Promise<HandlerResponse> {
  const response = await respondWithErrorPage(context, { status, message, layoutMarkup }, settings);
  // A form that was sent to the page may have changed something.
  const isSafe = context.inbound.method === "GET" || context.inbound.method === "HEAD";
  return isSafe ? { ...response, headers: { ...response.headers, "retry-after": String(RETRY_SECONDS) } } : response;
}

/** Returns a response that nobody receives, or that is replaced, without running the layout and the error page. */
function disconnectedResponse(): HandlerResponse {
  const { status, message, headers } = disconnectedError();
  return textResponse(status, `${message}\n`, headers);
}

/** Returns the response of a page or a route that redirects. */
export function redirectResponse(
  context: RequestContext,
  redirect: Redirect,
  { base, reportRedirectLoop }: Pick<PageSettings, "base" | "reportRedirectLoop">,
): HandlerResponse {
  const { location } = redirectTarget(redirect, base);
  if (reportRedirectLoop && leadsToItself(context, location)) reportRedirectLoop(redirect);
  return { status: 303, headers: { location, ...PRIVATE_NO_STORE }, body: null };
}

/** Returns whether the browser sends the same request again. With a cookie of the response, it is another request. */
function leadsToItself({ inbound, url, setCookieHeaders }: RequestContext, location: string): boolean {
  if (inbound.method !== "GET" || [...setCookieHeaders].length > 0) return false;
  return url.pathname + url.search === location.replace(/#.*/, "");
}

/**
 * Logs an unexpected error. The changes of the request are discarded, unless it is an `RPCError`. A redirect and an
 * error for the user are neither logged, nor do they discard anything. A consequence of the client's disconnection is not
 * logged.
 */
export function recordFailure(
  context: RequestContext,
  error: unknown,
  subject: string,
  { log, showError }: PageSettings,
): void {
  if (error instanceof Redirect || isPageError(error)) return;
  if (!keepsCookies(error, "page")) {
    context.discardChanges();
    forgetOnce(context); // a result may be that of the discarded session
  }
  if (context.unavailable) return;
  if (error instanceof UnavailableError) {
    logRefusal(error, context, log);
    return;
  }
  if (isDisconnection(context, error)) return;
  const advice = showError ? "" : browserGlobalAdvice(error); // the development server adds it to the error itself
  log.error({ id: context.id, err: error }, advice === "" ? `${subject} failed` : `${subject} failed. ${advice}`);
}

/** What an error page shows. */
export interface Failure {
  readonly status: number;
  readonly message: string;
  /** As in {@link FailedPage}. */
  readonly layoutMarkup?: LayoutMarkup | null | undefined;
}

/** Returns the application's error page in its layout. A layout that refuses decides the response here too. */
export async function respondWithErrorPage(
  context: RequestContext,
  { status, message, layoutMarkup }: Failure,
  settings: PageSettings,
): Promise<HandlerResponse> {
  const props: ErrorPageProps = { status, message, id: context.id };
  const options = { title: errorTitle(status) };
  const running = attempt(() => settings.error(props));
  const starting = startErrorLayout(layoutMarkup, settings);
  const content = isPromise(running) ? await running : running;
  const outcome = isPromise(starting) ? await starting : starting;
  if (!outcome.ok && (outcome.error instanceof Redirect || isPageError(outcome.error))) {
    return handlePageError(context, outcome.error, { subject: "The layout", layoutMarkup: null }, settings);
  }
  try {
    if (!outcome.ok) throw outcome.error;
    if (!content.ok) throw content.error;
    const source = { options, source: null, layoutMarkup: outcome.value };
    return htmlResponse(status, await renderDocument(context, content.value, source, settings));
  } catch (error) {
    if (isDisconnection(context, error)) return disconnectedResponse();
    // The layout or the application's error page may be what failed, so neither is used again.
    if (error instanceof UnavailableError) logRefusal(error, context, settings.log);
    else settings.log.error({ id: context.id, err: error }, "The error page failed");
    const source = { options, source: null, layoutMarkup: NO_LAYOUT_MARKUP };
    return htmlResponse(status, await renderDocument(context, DefaultError(props), source, settings));
  }
}

function startErrorLayout(
  layoutMarkup: LayoutMarkup | null | undefined,
  { layout }: PageSettings,
): LayoutOutcome | Promise<LayoutOutcome> {
  return layoutMarkup === undefined ? startLayout(layout) : { ok: true, value: layoutMarkup ?? NO_LAYOUT_MARKUP };
}

/** The query parameter with the path of the page that required a sign-in. */
const NEXT_PARAMETER = "next";

/** The length up to which a path is passed on. A longer one could make a header that proxies and browsers refuse. */
const MAX_NEXT_CHARS = 2_000;

/** The request for which a sign-in page is chosen. */
interface RefusedRequest {
  readonly method: string;
  /** The path, percent-encoded, without the application's base; `null` outside the base. */
  readonly path: string | null;
  /** The query with its question mark, or an empty string. */
  readonly search: string;
}

/**
 * Returns the path of the sign-in page with the path of the request as `next`, without the application's base; `null` if
 * the request is that of the sign-in page itself, which would redirect without end.
 *
 * `next` is the path that the client has requested, and only if it is one of this site: it cannot name another host.
 * Only GET and HEAD have one, because the browser requests it with GET.
 *
 * @param signIn the option `sign_in`
 * @see docs/protocol.md 11.3
 */
export function signInLocation(signIn: string, { method, path, search }: RefusedRequest): string | null {
  const [signInPath = ""] = signIn.split("?");
  if (path === signInPath) return null;
  const next = path + search;
  if (path === null || (method !== "GET" && method !== "HEAD")) return signIn;
  if (!isSitePath(next) || next.length > MAX_NEXT_CHARS) return signIn;
  return `${signIn}${signIn.includes("?") ? "&" : "?"}${NEXT_PARAMETER}=${encodeURIComponent(next)}`;
}

/**
 * Returns the redirect to the sign-in page for an error that requires a signed-in user; `null` for every other error,
 * and for a user who is signed in: the sign-in page would send that user back.
 */
function signInRedirect(
  { inbound, url }: RequestContext,
  error: unknown,
  { base, signIn }: { readonly base: string; readonly signIn: string | null },
) {
  if (signIn === null || !(error instanceof RPCError) || error.code !== "unauthenticated") return null;
  if (session.user() !== null) return null;
  const request = { method: inbound.method, path: pathBelowBase(inbound.pathname, base), search: url.search };
  const location = signInLocation(signIn, request);
  return location === null ? null : redirect(location);
}
