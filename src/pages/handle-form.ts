import type { RPCError } from "../errors.ts";
import {
  acceptedSubmission,
  explainStaleForm,
  type FormRefusal,
  type FormSettings,
  type FormSuccess,
  type ReceivedForm,
  refusedSubmission,
  requireForm,
  runForm,
  type Submission,
  type SubmissionInit,
  setSubmission,
  withAllTexts,
} from "../forms/index.ts";
import {
  type HandlerResponse,
  htmlResponse,
  logRefusal,
  PRIVATE_NO_STORE,
  type RedirectTarget,
  type RequestContext,
  RequestError,
  run,
} from "../http/index.ts";
import { CSRF_HEADER, readFormParameter, returnedErrorMessage } from "../protocol/index.ts";
import { errorHeaders, errorStatus, isStaleError } from "../rpc/index.ts";
import { escapeHtml, writeDocument } from "./document.ts";
import { handleNotFound, handlePage } from "./handle-page.ts";
import { respondWithErrorPage } from "./handle-page-error.ts";
import type { PageDefinition } from "./page.ts";
import type { PageSettings } from "./render-document.ts";

/** Where a form without script was sent. */
export interface PageForm {
  /**
   * The value of the reserved parameter: the function, with the version that the page has of it, and the function of the
   * form's `action` if it is another one.
   */
  readonly parameter: string;
  /** The page; `null` at a path without one, whose error page contains the form. */
  readonly page: PageDefinition | null;
  readonly params: Record<string, string | undefined>;
}

/** The settings of forms and pages. */
export interface PageFormSettings {
  readonly forms: Omit<FormSettings, "keepsFields" | "base" | "version" | "once">;
  readonly pages: PageSettings;
}

/**
 * Handles a form that was sent to a page without script, and responds with a redirect or with the page.
 *
 * A redirect of the function is 303. Without a result, the client is redirected to the page, so that a reload sends
 * nothing twice. A result is shown by the page, with 200; a refusal too, with its status and with what was typed.
 *
 * @throws RequestError for a form of another origin and for a request that is not a form: nothing of the page is rendered
 * @see docs/protocol.md 15.6
 */
export async function handlePageForm(
  context: RequestContext,
  form: PageForm,
  { forms, pages }: PageFormSettings,
): Promise<HandlerResponse> {
  requireForm(context, forms.log);
  const { name, version, action, once } = readFormParameter(form.parameter);
  const settings: FormSettings = { ...forms, base: pages.base, keepsFields: true, version, once };
  try {
    const outcome = await runForm(context, forms.functions.get(name), settings);
    switch (outcome.kind) {
      case "redirect":
        return redirectAfterForm(outcome.target, pages);
      case "success":
        return await respondToSuccess(context, outcome, { form, pages, action });
      case "refusal":
        return await respondToRefusal(context, explainStaleForm(outcome), { form, pages, action });
    }
  } catch (error) {
    // The body could not be read, so what was typed is not known.
    if (error instanceof RequestError) {
      logRefusal(error, context, forms.log);
      return respondWithError(context, error, pages);
    }
    throw error;
  }
}

/** What the responses to a form have in common. */
interface FormResponse {
  readonly form: PageForm;
  readonly pages: PageSettings;
  /** The function of the form's `action`. */
  readonly action: string;
}

async function respondToSuccess(
  context: RequestContext,
  { received, json, lists }: FormSuccess,
  { form, pages, action }: FormResponse,
): Promise<HandlerResponse> {
  if (json === "null") {
    return { status: 303, headers: { location: pathOf(context), ...PRIVATE_NO_STORE }, body: null };
  }
  const submission = acceptedSubmission(submissionInit(received, action, lists), JSON.parse(json));
  setSubmission(context, submission);
  const response = await renderPage(context, form, pages);
  if (pages.development) warnAboutReturnedError(submission, received, pages);
  return response;
}

function warnAboutReturnedError(submission: Submission, { definition }: ReceivedForm, { log }: PageSettings): void {
  if (!definition || submission.isHandled) return;
  const { name, file, line } = definition.signature;
  const message = returnedErrorMessage(`${name} (${file}:${line})`, submission.result);
  if (message) log.warn({}, message);
}

async function respondToRefusal(
  context: RequestContext,
  refusal: FormRefusal,
  { form, pages, action }: FormResponse,
): Promise<HandlerResponse> {
  const { received, error, cause, lists } = refusal;
  if (!received.definition) return respondWithError(context, error, pages);
  if (error.code === "internal" && pages.showError) return htmlResponse(500, await pages.showError(cause, context.id));
  const submission = refusedSubmission(submissionInit(received, action, lists), error);
  setSubmission(context, submission);
  const response = await renderPage(context, form, pages);
  // The page of this build may not contain the form any more: then nothing else shows what was typed.
  const isLost = isStaleError(error) && response.status === 200 && !submission.isShown;
  if (isLost) return respondWithError(context, withAllTexts(refusal, error), pages);
  const { [CSRF_HEADER]: _, ...headers } = errorHeaders(error); // the page has a new token itself
  const status = response.status === 200 ? errorStatus(error) : response.status;
  return { ...response, status, headers: { ...response.headers, ...headers } };
}

function submissionInit(
  { definition, fields, key }: ReceivedForm,
  form: string,
  lists: ReadonlySet<string>,
): SubmissionInit {
  return { name: definition?.signature.name ?? "", form, key, fields, lists };
}

/** Renders the page of the form. If the page or its layout redirects to another site, the response is as for a function. */
async function renderPage(
  context: RequestContext,
  { page, params }: PageForm,
  pages: PageSettings,
): Promise<HandlerResponse> {
  const response = await (page ? run(handlePage(context, page, params, pages)) : handleNotFound(context, pages));
  const location = response.headers?.location;
  if (location === undefined || location.startsWith("/")) return response;
  return redirectAfterForm({ location, isExternal: true }, pages);
}

async function respondWithError(
  context: RequestContext,
  error: RPCError,
  pages: PageSettings,
): Promise<HandlerResponse> {
  const response = await respondWithErrorPage(context, { status: errorStatus(error), message: error.message }, pages);
  return { ...response, headers: { ...response.headers, ...errorHeaders(error) } };
}

/** Returns the path and query of the page that was requested. */
function pathOf({ url }: RequestContext): string {
  return url.pathname + url.search;
}

/**
 * Redirects with 303 to a path of this site. To another site, a page with `Refresh` redirects: the directive
 * `form-action 'self'` of the content security policy also forbids redirects of a form.
 */
function redirectAfterForm({ location, isExternal }: RedirectTarget, pages: PageSettings): HandlerResponse {
  if (!isExternal) return { status: 303, headers: { location, ...PRIVATE_NO_STORE }, body: null };
  return htmlResponse(200, externalRedirectDocument(location, pages), { refresh: `0; url=${location}` });
}

/** Returns the document that a browser shows for a moment, and a client that ignores `Refresh` for longer. */
function externalRedirectDocument(location: string, { title, lang, base }: PageSettings): string {
  const { host } = new URL(location);
  return writeDocument({
    htmlAttributes: { lang },
    bodyAttributes: {},
    title,
    head: "",
    body: `<main><p><a href="${escapeHtml(location)}">${escapeHtml(host)}</a></p></main>`,
    islands: [],
    mark: "",
    tag: null,
    csrfToken: null,
    form: null,
    base,
    styles: [],
    assets: null,
  });
}
