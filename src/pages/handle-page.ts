import { RPCError } from "../errors.ts";
import {
  awaitMaybe,
  type HandlerResponse,
  isPromise,
  type MaybeAsync,
  PRIVATE_NO_CACHE,
  Redirect,
  type RequestContext,
  run,
  runDetached,
  type SharedRendering,
  textResponse,
} from "../http/index.ts";
import { handlePageError, recordFailure, redirectResponse } from "./handle-page-error.ts";
import { attempt, type LayoutOutcome, type Outcome, startLayout } from "./layout.ts";
import type { PageDefinition, PageResult } from "./page.ts";
import { adviseLater } from "./page-waits.ts";
import { type PageSettings, renderDocument, renderPage, warnOnce } from "./render-document.ts";

/**
 * Handles the request of a page: runs the page function and its layout, both at once, and renders their results.
 * A page whose function and layout return no promises is rendered at once.
 *
 * A redirect has the status 303. For `NotFound` and the `RPCError`s `not_found`, `forbidden` and `unauthenticated`, the
 * status is 404, 403 or 401, or 303 to the sign-in page. For any other error it is 500, and the error is logged with its
 * stack and the request id. With an error that is not an `RPCError`, cookies and the sign-in of the page are discarded.
 *
 * What the layout throws decides the response, whatever the page does: the page may reveal that an item exists.
 *
 * @see docs/protocol.md 11.1 to 11.3
 */
export function* handlePage(
  context: RequestContext,
  page: PageDefinition,
  params: PageParams,
  settings: PageSettings,
): MaybeAsync<HandlerResponse> {
  const results = yield* runPage(page, params, settings);
  const response = respondWithPage(context, page, results, settings);
  return isPromise(response) ? yield* awaitMaybe(response) : response;
}

type PageParams = Record<string, string | undefined>;

/** What a page function and its layout have returned or thrown. */
interface PageResults {
  readonly result: Outcome<PageResult>;
  readonly layout: LayoutOutcome;
}

/** Runs a page function and its layout, both at once. */
function* runPage(page: PageDefinition, params: PageParams, settings: PageSettings): MaybeAsync<PageResults> {
  // The page starts first, so that the layout sees a sign-in before its first `await`. If neither returns a promise,
  // both end here.
  const running = attempt(() => page.run(params));
  const starting = startLayout(page.options.layout ?? settings.layout);
  const result = yield* awaitMaybe(running);
  return { result, layout: yield* awaitMaybe(starting) };
}

function respondWithPage(
  context: RequestContext,
  { options, source, path }: PageDefinition,
  { result, layout }: PageResults,
  settings: PageSettings,
): HandlerResponse | Promise<HandlerResponse> {
  const subject = `The page ${path}`;
  const isOwnLayout = options.layout !== undefined;
  if (!layout.ok) {
    if (!result.ok) recordFailure(context, result.error, subject, settings);
    const failed = { subject: `The layout of the page ${path}`, ...(isOwnLayout ? {} : { layoutMarkup: null }) };
    return handlePageError(context, layout.error, failed, settings);
  }
  const layoutMarkup = layout.value;
  if (!result.ok) {
    const failed = { subject, ...(isOwnLayout ? {} : { layoutMarkup }) };
    return handlePageError(context, result.error, failed, settings);
  }
  if (result.value instanceof Redirect) return redirectResponse(context, result.value, settings);
  const advice = settings.development && !options.cache ? adviseLater(context, source.file) : undefined;
  if (advice) warnOnce(settings.log, source, advice.message, advice.key);
  const fail = (error: unknown) => handlePageError(context, error, { subject }, settings);
  try {
    const response = renderPage(context, result.value, { options, source, layoutMarkup }, settings);
    return isPromise(response) ? response.catch(fail) : response;
  } catch (error) {
    return fail(error);
  }
}

/** A page that was rendered for all clients: its HTML, or how each of its requests is answered instead. */
export type SharedPage =
  | { readonly html: string }
  | { readonly html: null; respond(context: RequestContext): HandlerResponse | Promise<HandlerResponse> };

/**
 * Renders a page for all clients. What is not a page with the status 200 is answered for each request by itself: the error page
 * may show its id, and its log line names it.
 *
 * @throws Error of {@link SharedRendering}, if the page or its layout has used what belongs to one client
 */
export function renderSharedPage(
  shared: SharedRendering,
  page: PageDefinition,
  params: PageParams,
  settings: PageSettings,
): Promise<SharedPage> {
  return runDetached(shared.context, async () => {
    const results = await run(runPage(page, params, settings));
    const { result, layout } = results;
    // Each response runs the layout again: its markup can be rendered once.
    let failed = layout.ok && !result.ok ? result : undefined;
    if (layout.ok && result.ok && !(result.value instanceof Redirect)) {
      const { options, source } = page;
      const parts = { options, source, layoutMarkup: layout.value };
      try {
        const html = await renderDocument(shared.context, result.value, parts, settings);
        if (!shared.refused) return { html };
      } catch (error) {
        failed = { ok: false, error };
      }
    }
    if (shared.refused) throw shared.refused;
    return {
      html: null,
      respond(context: RequestContext) {
        if (!failed) return respondWithPage(context, page, results, settings);
        return handlePageError(context, failed.error, { subject: `The page ${page.path}` }, settings);
      },
    };
  });
}

/** What a browser requests for a page that it shows. */
const PART_OF_PAGE = /^(audio|font|image|manifest|script|style|track|video)$/;

/** Handles a request for a path without a page. In development, the response describes how to add one. */
export async function handleNotFound(context: RequestContext, settings: PageSettings): Promise<HandlerResponse> {
  await settings.reportUnserved?.();
  const hint = settings.showError ? ` ${await notFoundHint(context, settings)}` : "";
  const message = `There is no page at this address.${hint.trimEnd()}`;
  // Nobody sees it. With `no-store`, a missing /favicon.ico would make Chromium not keep the page for Back.
  if (PART_OF_PAGE.test(context.inbound.header("sec-fetch-dest") ?? "")) {
    return textResponse(404, `${message}\n`, PRIVATE_NO_CACHE);
  }
  const error = new RPCError("not_found", message);
  return handlePageError(context, error, { subject: "", isLogged: false }, settings);
}

/** Returns how to handle the requests of a method at an address without a page. In development only. */
async function notFoundHint({ inbound }: RequestContext, settings: PageSettings): Promise<string> {
  const { method, pathname } = inbound;
  if (method !== "GET" && method !== "HEAD") return methodHint(method);
  const { base, adviseUnloadedPage } = settings;
  const isBelowBase = pathname === base || pathname.startsWith(`${base}/`);
  const advice = isBelowBase ? await adviseUnloadedPage?.(pathname.slice(base.length) || "/") : undefined;
  return advice ?? "To add one, list its module in `modules` of new App.";
}

/** Returns how to handle a method that no page receives; empty for methods that applications do not use. */
export function methodHint(method: string): string {
  if (!["POST", "PUT", "PATCH", "DELETE"].includes(method)) return "";
  const form = method === "POST" ? " For a form, write a server function as its action: `<form action={save}>`." : "";
  return `A page receives no ${method}.${form} For other clients, declare \`route("${method} /path", …)\`.`;
}
