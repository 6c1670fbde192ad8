import { RPCError, statusOf, ValueError } from "../errors.ts";
import {
  disconnectedError,
  type HandlerResponse,
  isDisconnection,
  jsonResponse,
  logExpectedError,
  logRefusal,
  Redirect,
  type RequestContext,
  RequestError,
  UnavailableError,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { SerializeError, toJson } from "../protocol/index.ts";
import { closestName } from "../text/index.ts";

/**
 * Returns the error that the caller receives for what a function of the application threw.
 *
 * - An `RPCError` is returned as it is.
 * - A `ValueError` or a `TypeError` becomes `validation_error` with its message. A `TypeError` is logged as an error with
 *   its stack, because it may be a bug.
 * - A `TypeError` with a `cause` (`fetch failed`) comes from another system, so the caller did not cause it. It and
 *   everything else become `internal`.
 *
 * An `RPCError` and a `ValueError` are thrown on purpose: they are logged without a stack, as information, and the cookies
 * and the sign-in that the function has set are kept. With anything else they are discarded: the function may have failed halfway.
 *
 * @param operation the subject of the log line: `The call of add`
 * @see docs/protocol.md 5.4
 */
export function callerErrorOfFunction(
  error: unknown,
  context: RequestContext,
  log: AppLog,
  operation: string,
): RPCError {
  if (isDisconnection(context, error)) return callerError(error, context, log, operation);
  if (error instanceof ValueError) {
    logExpectedError(error, context, log, operation);
    return new RPCError("validation_error", error.message);
  }
  if (error instanceof TypeError && error.cause === undefined) {
    discardCookiesAfter(error, context, "function");
    log.error({ id: context.id, err: error }, `${operation} threw a TypeError; the caller received its message`);
    return new RPCError("validation_error", error.message);
  }
  if (error instanceof RPCError && !(error instanceof RequestError)) logExpectedError(error, context, log, operation);
  return callerError(error, context, log, operation);
}

/**
 * Returns the error that the caller receives for what was thrown outside a function: an `RPCError` as it is,
 * anything else as `internal` with a general message. Its stack is logged with the request's id, unless it is a
 * consequence of the client's disconnection.
 *
 * Cookies and the sign-in are discarded, unless it is an `RPCError` of the application. A `RequestError` is one of the
 * server, such as the time limit.
 */
export function callerError(error: unknown, context: RequestContext, log: AppLog, operation: string): RPCError {
  discardCookiesAfter(error, context, "tsweb");
  if (error instanceof RequestError) logRefusal(error, context, log);
  if (error instanceof RPCError) return error;
  if (isDisconnection(context, error)) return disconnectedError();
  log.error({ id: context.id, err: error }, `${operation} failed`);
  return new RPCError("internal", `Something went wrong on the server. See request ${context.id} in its log.`);
}

/** What an error was thrown by: a function, stream or route; a page or its layout; or code of tsweb around them. */
type ThrownBy = "function" | "page" | "tsweb";

/**
 * Returns whether the cookies that a request has set, with a sign-in or sign-out, are kept when it ends with an error. What
 * was thrown on purpose keeps them; anything else discards them, because the code may have failed halfway. A `RequestError`
 * is one of tsweb, such as the time limit.
 *
 * @see docs/protocol.md 5.6
 */
export function keepsCookies(error: unknown, thrownBy: ThrownBy): boolean {
  if (error instanceof Redirect) return true;
  if (thrownBy === "page") return error instanceof RPCError && !(error instanceof UnavailableError);
  if (error instanceof ValueError) return thrownBy === "function";
  return error instanceof RPCError && !(error instanceof RequestError);
}

function discardCookiesAfter(error: unknown, context: RequestContext, thrownBy: ThrownBy): void {
  if (!keepsCookies(error, thrownBy)) context.discardChanges();
}

/**
 * Returns the error for the caller. In development, the caller is the developer: a result that cannot be sent is described,
 * and for an `Error` that a function threw, how to send a text to the user.
 *
 * @param error what was thrown
 * @param forCaller the error that the caller receives otherwise
 */
export function showInDevelopment(
  error: unknown,
  forCaller: RPCError,
  { development }: { readonly development?: true | undefined },
): RPCError {
  if (!development || forCaller.code !== "internal") return forCaller;
  // The message of `forCaller` has the request's id.
  if (error instanceof SerializeError) return new RPCError("internal", `${error.message} ${forCaller.message}`);
  const isPlain = error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
  return isPlain ? new RPCError("internal", `${forCaller.message} ${TEXT_FOR_USER}`) : forCaller;
}

const TEXT_FOR_USER =
  'The text of an Error is not sent to browsers. To show the user a text, throw a ValueError or an RPCError of "tsweb".';

/**
 * Returns the response with the error body, as of a call or a route that failed. An error `rate_limited` whose details
 * have `retry_after` in whole seconds also has the header `Retry-After`.
 *
 * @see docs/protocol.md 5.2 and 5.3
 */
export function errorResponse(error: RPCError, context: RequestContext, log: AppLog): HandlerResponse {
  const body = `{"error":${errorJson(error, context, log)}}`;
  return jsonResponse(errorStatus(error), body, errorHeaders(error));
}

/** Returns the status of the response with an error. */
export function errorStatus(error: RPCError): number {
  return error instanceof RequestError ? error.status : statusOf(error.code);
}

/** Returns the headers of the response with an error, besides its content type. */
export function errorHeaders(error: RPCError): Readonly<Record<string, string>> {
  return { ...retryAfterHeader(error), ...(error instanceof RequestError ? error.headers : {}) };
}

function retryAfterHeader({ code, details }: RPCError): Readonly<Record<string, string>> {
  const seconds: unknown = code === "rate_limited" ? details?.retry_after : undefined;
  return Number.isSafeInteger(seconds) && Number(seconds) >= 0 ? { "retry-after": String(seconds) } : {};
}

/**
 * Returns an error as JSON: `{"code","message","details"}`.
 *
 * Details that cannot be serialised (a cycle, a promise) are replaced by `{}` and logged, so that the caller still
 * receives the code and the message.
 *
 * @see docs/protocol.md 5.2
 */
export function errorJson({ code, message, details }: RPCError, context: RequestContext, log: AppLog): string {
  const head = `{"code":${JSON.stringify(code)},"message":${JSON.stringify(message)}`;
  return `${head},"details":${detailsJson(details, context, log)}}`;
}

function detailsJson(details: object, context: RequestContext, log: AppLog): string {
  try {
    const json = toJson(details);
    if (json.startsWith("{")) return json;
    throw new TypeError("The details of an RPCError must be an object.");
  } catch (error) {
    log.error({ id: context.id, err: error }, "The details of an RPCError could not be serialised");
    return "{}";
  }
}

/** The statuses of requests that no stub sends: an unknown function, a method other than POST, and a body that is no JSON. */
const STATUSES: ReadonlySet<number> = new Set([404, 405, 415]);

/**
 * Logs that a call was refused which was probably written with `fetch`, because a stub sends none like it. For development:
 * the code of the page may ignore the response.
 *
 * `tsweb/client` requests the parameters of a function by GET, also from scripts without a page. Only pages of the same
 * site get a line for it.
 */
export function logHandwrittenCall(error: unknown, { inbound, id }: RequestContext, log: AppLog): void {
  if (!(error instanceof RequestError) || !STATUSES.has(error.status)) return;
  const isOfPage = inbound.header("sec-fetch-site") === "same-origin";
  if (error.status === 405 && !isOfPage) return;
  const advice = "To call a server function, import it and call it like any function: tsweb sends the request.";
  log.warn(
    { id },
    `${inbound.method} ${inbound.pathname} was refused with ${error.status}. ${error.message} ${advice}`,
  );
}

/**
 * Returns the error of a call of a function that does not exist, in development with the function that was probably meant:
 * in the message of `not_found`, and in the details of a request for the parameters. `tsweb/client` has only the types of
 * the functions, so it cannot know their names. A built server does not name its functions.
 *
 * @param name the name in the path of the call
 * @see docs/protocol.md 3.4
 */
export function withSimilarName(
  error: RPCError,
  name: string,
  { development, functions }: { readonly development?: true; readonly functions: ReadonlyMap<string, unknown> },
): RPCError {
  if (!development || !(error instanceof RequestError) || (error.status !== 404 && error.status !== 405)) return error;
  const similar = closestName(name, functions.keys());
  if (similar === undefined) return error;
  const { code, message, status, headers } = error;
  const question = status === 404 ? ` Did you mean ${similar}?` : "";
  return new RequestError(code, message + question, { status, headers, details: { similar } });
}
