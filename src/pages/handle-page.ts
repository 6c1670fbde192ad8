import { RPCError, statusOf } from "../errors.ts";
import { type HandlerResponse, htmlResponse, PRIVATE_NO_STORE, type RequestContext } from "../http/index.ts";
import { DefaultError, type ErrorPageProps, errorTitle } from "./error-page.ts";
import type { PageDefinition } from "./page.ts";
import { Redirect } from "./redirect.ts";
import { type PageSettings, renderDocument } from "./render-document.ts";

/**
 * Handles the request of a page: runs the page function and renders its result.
 *
 * For `NotFound` and the `RPCError`s `not_found`, `forbidden` and `unauthenticated`, the status is 404, 403 or 401. For any
 * other error it is 500, and the error is logged with its stack and the request id.
 *
 * @see docs/protocol.md 11.1 to 11.3
 */
export async function handlePage(
  context: RequestContext,
  page: PageDefinition,
  params: Record<string, string | undefined>,
  settings: PageSettings,
): Promise<HandlerResponse> {
  try {
    const result = await page.run(params);
    if (result instanceof Redirect) {
      const location = result.internal ? settings.base + result.location : result.location;
      return { status: 303, headers: { location, ...PRIVATE_NO_STORE }, body: null };
    }
    return htmlResponse(200, renderDocument(context, result, page, settings));
  } catch (error) {
    return handleError(context, error, `The page ${page.path}`, settings);
  }
}

/** Handles a request for a path without a page. In development, the response describes how to add one. */
export function handleNotFound(context: RequestContext, settings: PageSettings): Promise<HandlerResponse> {
  const hint = settings.showError ? " To add one, list its module in `modules` of new App." : "";
  return handleError(context, new RPCError("not_found", `There is no page at this address.${hint}`), "", settings);
}

const PAGE_ERRORS: ReadonlySet<string> = new Set(["not_found", "forbidden", "unauthenticated"]);

/** Returns the response for an error. `subject` is the subject of the log line: `The page /users`. */
async function handleError(
  context: RequestContext,
  error: unknown,
  subject: string,
  settings: PageSettings,
): Promise<HandlerResponse> {
  const { log, showError } = settings;
  if (error instanceof RPCError && PAGE_ERRORS.has(error.code)) {
    return htmlResponse(statusOf(error.code), renderErrorPage(context, statusOf(error.code), error.message, settings));
  }
  log.error({ id: context.id, err: error }, `${subject} failed`);
  if (showError) return htmlResponse(500, await showError(error, context.id));
  return htmlResponse(500, renderErrorPage(context, 500, "Something went wrong on the server.", settings));
}

function renderErrorPage(context: RequestContext, status: number, message: string, settings: PageSettings): string {
  const props: ErrorPageProps = { status, message, id: context.id };
  const title = errorTitle(status);
  try {
    return renderDocument(context, settings.error(props), { options: { title }, source: null }, settings);
  } catch (error) {
    // The layout or the application's error page may be what failed, so neither is used again.
    settings.log.error({ id: context.id, err: error }, "The error page failed");
    return renderDocument(context, DefaultError(props), { options: { title, layout: false }, source: null }, settings);
  }
}
