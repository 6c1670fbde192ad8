import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { h } from "preact";
import { RPCError, statusOf } from "../errors.ts";
import { htmlReply, PRIVATE, type Reply, type RequestContext } from "../http/index.ts";
import type { Log } from "../logging/index.ts";
import type { Markup, PageSource } from "../protocol/index.ts";

import { issueCsrfToken } from "../session/index.ts";
import type { Assets } from "./assets.ts";
import { writeDocument } from "./document.ts";
import { splitHead } from "./head.ts";
import type { Layout, PageDefinition, PageOptions } from "./page.ts";
import { Redirect } from "./redirect.ts";
import { type ElementPlace, isThenable, MarkupError, type Render, renderMarkup, unshowable } from "./rendering.ts";

/** What a page that could not be shown is rendered from. */
export interface ErrorPageProps {
  readonly status: number;
  /** What went wrong, in words for the visitor; never what an unexpected error says. */
  readonly message: string;
  /** The request's id, for the visitor to quote. */
  readonly id: string;
}

/** What all pages of an application share. */
export interface PageSettings {
  readonly title: string;
  readonly lang: string;
  readonly base: string;
  readonly layout: Layout | null;
  readonly error: (props: ErrorPageProps) => Markup;
  readonly development: boolean;
  readonly log: Log;
  /** Absent while nothing was built: pages are served without scripts and style sheets. */
  readonly assets: Assets | null;
  /** In development: the page that shows an unexpected error to the developer. */
  readonly showError?: (error: unknown, id: string) => Promise<string>;
}

/**
 * Answers a page: runs its function, then renders what it gave.
 *
 * `NotFound` and the `RPCError`s `not_found`, `forbidden` and `unauthenticated` answer 404, 403 and
 * 401; anything else thrown is 500, with its stack in the log under the request's id.
 */
export async function answerPage(
  context: RequestContext,
  page: PageDefinition,
  params: Record<string, string | undefined>,
  settings: PageSettings,
): Promise<Reply> {
  try {
    const result = await page.run(params);
    if (result instanceof Redirect) {
      const location = result.internal ? settings.base + result.location : result.location;
      return { status: 303, headers: { location, ...PRIVATE }, body: null };
    }
    return htmlReply(200, render(context, result, page, settings));
  } catch (error) {
    return answerError(context, error, `The page ${page.path}`, settings);
  }
}

/** Answers the page for a path that no page has. In development it may be one that was written and not listed. */
export function answerNotFound(context: RequestContext, settings: PageSettings): Promise<Reply> {
  const hint = settings.showError ? " A page is served once its module is in modules of new App." : "";
  return answerError(context, new RPCError("not_found", `There is no page at this address.${hint}`), "", settings);
}

/** Answers what was thrown on the way to a page. */
async function answerError(
  context: RequestContext,
  error: unknown,
  what: string,
  settings: PageSettings,
): Promise<Reply> {
  const { log, showError } = settings;
  if (error instanceof RPCError && PAGE_ERRORS.has(error.code)) {
    return htmlReply(statusOf(error.code), errorPage(context, statusOf(error.code), error.message, settings));
  }
  log.error({ id: context.id, err: error }, `${what} failed`);
  if (showError) return htmlReply(500, await showError(error, context.id));
  return htmlReply(500, errorPage(context, 500, "Something went wrong on the server.", settings));
}

const PAGE_ERRORS: ReadonlySet<string> = new Set(["not_found", "forbidden", "unauthenticated"]);

function errorPage(context: RequestContext, status: number, message: string, settings: PageSettings): string {
  const props: ErrorPageProps = { status, message, id: context.id };
  const title = TITLES[status] ?? "Error";
  try {
    return render(context, settings.error(props), { options: { title }, source: null }, settings);
  } catch (error) {
    // The layout or the application's own error page may be what failed.
    settings.log.error({ id: context.id, err: error }, "The error page failed");
    return render(context, DefaultError(props), { options: { title, layout: false }, source: null }, settings);
  }
}

const TITLES: Readonly<Record<number, string>> = {
  401: "Not signed in",
  403: "Not allowed",
  404: "Not found",
  500: "Something went wrong",
};

/** The error page of an application that brings none. */
export function DefaultError({ status, message, id }: ErrorPageProps): Markup {
  return h("main", null, [
    h("h1", null, TITLES[status] ?? "Error"),
    h("p", null, message),
    status === 500 ? h("p", null, ["Request ", h("code", null, id)]) : null,
  ]);
}

/** @throws MarkupError for what would be shown as an empty page, and was hardly meant to be one */
function refuseEmpty(markup: unknown, at: ElementPlace | undefined): void {
  if (markup === undefined) {
    throw new MarkupError("The page gave nothing. Return its markup, or null where it is to be empty.", at);
  }
  const kind = unshowable(markup);
  if (kind) throw new MarkupError(`The page gave ${kind}, which is no markup: show a text made of it.`, at);
}

/** Where a page is declared. The development server works in the folder of the project. */
function placeOf({ file, line }: PageSource): ElementPlace {
  return { fileName: resolve(file), lineNumber: line, columnNumber: 1 };
}

/** What a document is rendered for: a page, or an error page, which no module declares. */
interface Rendered {
  readonly options: PageOptions;
  readonly source: PageSource | null;
}

function render(
  context: RequestContext,
  markup: Markup,
  { options, source }: Rendered,
  settings: PageSettings,
): string {
  const at = settings.development && source ? placeOf(source) : undefined;
  if (isThenable(markup)) throw new MarkupError("A page's markup is a promise: await it before it is returned.", at);
  if (settings.development) refuseEmpty(markup, at);
  const state: Render = {
    development: settings.development,
    mark: randomBytes(6).toString("base64url").replaceAll("-", "_"), // two hyphens would end a comment
    islands: [],
    head: [],
    viewDepth: 0,
    inHead: false,
  };
  const layout = options.layout ?? settings.layout;
  const body = renderMarkup(layout ? h(layout, { children: markup }) : markup, state);
  const { title, rest } = splitHead(state.head);
  return writeDocument({
    lang: options.lang ?? settings.lang,
    title: title ?? [options.title, settings.title].filter(Boolean).join(" · "),
    head: renderMarkup(rest, { ...state, inHead: true }),
    body,
    islands: state.islands,
    mark: state.mark,
    csrfToken: issueCsrfToken(context),
    base: settings.base,
    styles: settings.assets?.styles(source) ?? [],
    assets: settings.assets,
  });
}
