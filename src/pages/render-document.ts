import { resolve } from "node:path";
import {
  type HandlerResponse,
  htmlResponse,
  isPromise,
  isResponse,
  type Redirect,
  type RequestContext,
  randomHex,
  type SecurityOptions,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import {
  describeUnrenderable,
  islandComment,
  type Markup,
  type PageSource,
  WHOLE_PARAMETER,
} from "../protocol/index.ts";
import { pageTag } from "../session/index.ts";
import { type Assets, DOCUMENT_END, writeDocument, writePart } from "./document.ts";
import { mergeAttributes, splitHead } from "./document-elements.ts";
import type { ErrorPage } from "./error-page.ts";
import type { Layout, LayoutMarkup } from "./layout.ts";
import type { PageOptions } from "./page.ts";
import { type PartsOwner, renderInPlace, type StreamedDocument, streamInParts } from "./page-parts.ts";
import { type ElementLocation, FormRendering, MarkupError, type RenderState } from "./render-state.ts";
import { renderMarkup } from "./rendering.ts";

/** The settings that all pages of an application share. */
export interface PageSettings {
  readonly title: string;
  readonly lang: string;
  readonly base: string;
  readonly layout: Layout | null;
  /** The headers of the application's options. */
  readonly headers?: SecurityOptions["headers"];
  readonly error: ErrorPage;
  /** The path of the sign-in page, without the base; `null` if there is none. */
  readonly signIn: string | null;
  readonly development: boolean;
  readonly log: AppLog;
  /** The URL of the style sheet of transitions between pages; absent without them. */
  readonly transitions?: string | null;
  /** `null` without a build: pages then have no scripts and style sheets. */
  readonly assets: Assets | null;
  /** In development: renders a page that shows an unexpected error to the developer. */
  readonly showError?: (error: unknown, id: string) => Promise<string>;
  /** In development: returns why a path has no page although a module declares one; `undefined` if none does. */
  readonly adviseUnloadedPage?: ((path: string) => Promise<string | undefined>) | undefined;
  /** In development: reports a request for which there is no page or route; `allow`: the methods that its path has. */
  readonly reportUnserved?: ((allow?: string) => Promise<void>) | undefined;
  /** In development: reports a redirect of a request to its own URL. */
  readonly reportRedirectLoop?: ((redirect: Redirect) => void) | undefined;
}

/** The parts of a page definition that its document needs. An error page has no source. */
export interface DocumentSource {
  readonly options: PageOptions;
  readonly source: PageSource | null;
  /** What the layout has returned. */
  readonly layoutMarkup: LayoutMarkup;
}

/**
 * Renders the markup of a page, in its layout, as a whole HTML document. The result is there at once, unless parts of the page run.
 *
 * @throws MarkupError if the markup cannot be rendered
 */
export function renderDocument(
  context: RequestContext,
  markup: Markup,
  source: DocumentSource,
  settings: PageSettings,
): string | Promise<string> {
  const started = startDocument(context, markup, source, settings, false);
  if (started.state.parts.list.length === 0) return writeRendered(started, started.body, null);
  return renderInPlace(started.body, ownerOf(started)).then((whole) => writeRendered(started, whole, null));
}

/**
 * Returns the response with a page: with its parts after it for browsers that load it, see {@link streamsParts}.
 *
 * @throws MarkupError if the markup cannot be rendered
 */
export function renderPage(
  context: RequestContext,
  markup: Markup,
  source: DocumentSource,
  settings: PageSettings,
): HandlerResponse | Promise<HandlerResponse> {
  const started = startDocument(context, markup, source, settings, null);
  const { state, body } = started;
  if (state.parts.list.length === 0) return htmlResponse(200, writeRendered(started, body, null));
  const owner = ownerOf(started);
  if (!state.parts.isStreamed) {
    return renderInPlace(body, owner).then((whole) => htmlResponse(200, writeRendered(started, whole, null), VARYING));
  }
  const { base, assets, development } = settings;
  const document: StreamedDocument = {
    start: writeRendered(started, body, wholeAddress(context.url)),
    write: ({ part: { index }, html, islands, firstIsland }) =>
      writePart({
        ...{ mark: state.mark, index, html, islands, firstIsland, base, assets, styles: [] },
        islandHtml: development ? islands.map((_, at) => islandHtml(html, state.mark, firstIsland + at)) : undefined,
      }),
    end: DOCUMENT_END,
  };
  return { ...htmlResponse(200, "", STREAMED), body: streamInParts(document, owner) };
}

/** The header of pages with parts. They are sent in two forms. */
const VARYING = { vary: "Sec-Fetch-Mode" } as const;

/** The headers of a page whose parts follow. nginx would hold them back. */
const STREAMED = { ...VARYING, "x-accel-buffering": "no" } as const;

/** Returns the address that has the whole page. */
function wholeAddress({ pathname, search }: URL): string {
  return `${pathname}${search}${search === "" ? "?" : "&"}${WHOLE_PARAMETER}=1`;
}

/** A document before its parts. */
interface StartedDocument {
  readonly context: RequestContext;
  readonly settings: PageSettings;
  readonly document: DocumentSource;
  readonly state: RenderState;
  /** The HTML of the body. */
  readonly body: string;
}

/** It creates no functions and few objects: it runs for every page. */
function startDocument(
  context: RequestContext,
  markup: Markup,
  document: DocumentSource,
  settings: PageSettings,
  isStreamed: false | null,
): StartedDocument {
  const { options, source, layoutMarkup } = document;
  const location = settings.development && source ? pageLocation(source) : undefined;
  if (isPromise(markup)) throw new MarkupError("The markup of the page is a promise. Await it first.", location);
  if (settings.development) checkMarkup("page", markup, location);
  const state: RenderState = {
    development: settings.development,
    warn: settings.development ? (message) => warnOnce(settings.log, source, message) : undefined,
    mark: randomHex(6),
    islands: [],
    head: [],
    documentAttributes: { html: { layout: [], page: [] }, body: { layout: [], page: [] } },
    viewDepth: 0,
    parts: { isStreamed, list: [], rendered: null },
    inHead: false,
    replacedProps: new Map(),
    forms: new FormRendering(context, {
      base: settings.base,
      build: settings.assets?.build,
      // Only a check of development uses it.
      sendsOrigin: !settings.development || sendsOrigin(settings.headers, options.headers),
    }),
  };
  const body = renderMarkup(surround(markup, layoutMarkup, settings), state);
  return { context, settings, document, state, body };
}

function ownerOf({
  context,
  settings: { error, log },
  document: { source, options },
  state,
}: StartedDocument): PartsOwner {
  return { context, state, source, error, log, timeoutSeconds: options.later_timeout };
}

/**
 * Returns the HTML of a document.
 *
 * @param body the HTML of its body, with parts in their places or without
 * @param whole the address of the whole page, as {@link DocumentParts}
 */
function writeRendered(
  { context, settings, document: { options, source }, state }: StartedDocument,
  body: string,
  whole: string | null,
): string {
  const { title, rest } = splitHead(state.head);
  const { html, body: bodyElement } = state.documentAttributes;
  const hasData = state.islands.length > 0 || whole !== null;
  return writeDocument({
    htmlAttributes: mergeAttributes(html, {
      layout: { lang: settings.lang },
      page: options.lang === undefined ? {} : { lang: options.lang },
    }),
    bodyAttributes: mergeAttributes(bodyElement, { layout: {}, page: {} }),
    title: title ?? [options.title, settings.title].filter(Boolean).join(" · "),
    head: rest.length > 0 ? renderMarkup(rest, { ...state, inHead: true }) : "",
    body,
    islands: state.islands,
    mark: state.mark,
    tag: hasData ? pageTag(context) : null,
    isForAll: context.shared !== undefined,
    islandHtml: settings.development ? state.islands.map((_, index) => islandHtml(body, state.mark, index)) : undefined,
    csrfToken: hasData ? state.forms.csrfToken() : null,
    form: state.forms.submissionOfView(),
    base: settings.base,
    styles: settings.assets?.styles(source) ?? [],
    transitions: settings.transitions,
    assets: settings.assets,
    wholeAddress: whole,
  });
}

/** Returns the HTML between the comments of an island. */
function islandHtml(body: string, mark: string, index: number): string {
  const text = islandComment(mark, index);
  const [start, end] = [`<!--${text}-->`, `<!--/${text}-->`];
  return body.slice(body.indexOf(start) + start.length, body.indexOf(end));
}

/** The warnings that were logged, by the log of the application. An application is created again after an edit, and then warns again. */
const warnings = new WeakMap<AppLog, Set<string>>();

/**
 * Logs a warning about a page once, and not at each of its renderings.
 *
 * @param subject what it is about, if its text differs from time to time
 */
export function warnOnce(log: AppLog, source: PageSource | null, message: string, subject = message): void {
  const logged = warnings.get(log) ?? new Set();
  warnings.set(log, logged);
  const key = `${source?.file}:${source?.line} ${subject}`;
  if (logged.has(key)) return;
  logged.add(key);
  log.warn({}, message);
}

/**
 * Returns whether browsers send the origin of a page with its forms. With `Referrer-Policy: no-referrer`, they send
 * `Origin: null`, also to the same origin.
 *
 * @see https://fetch.spec.whatwg.org/#append-a-request-origin-header
 */
function sendsOrigin(...options: readonly SecurityOptions["headers"][]): boolean {
  const headers = options.flatMap((changes) => Object.entries(changes ?? {}));
  const policy = headers.findLast(([name]) => name.toLowerCase() === "referrer-policy")?.[1];
  return policy?.split(",").at(-1)?.trim().toLowerCase() !== "no-referrer";
}

/** @throws MarkupError if the layout returned no markup, in development */
function surround(content: Markup, layoutMarkup: LayoutMarkup, { development }: PageSettings): Markup {
  const markup = layoutMarkup.surround(content);
  if (development && markup !== content) checkMarkup("layout", markup);
  return markup;
}

/** @throws MarkupError if a page returned `undefined` or an object: the renderer would show an empty page */
function checkMarkup(subject: "page" | "layout", markup: unknown, location?: ElementLocation): void {
  if (markup === undefined) {
    throw new MarkupError(`The ${subject} returned undefined. Return its markup, or null for an empty page.`, location);
  }
  const description = describeUnrenderable(markup);
  if (description) {
    const fix = isResponse(markup)
      ? "Return markup, or declare a route(), which returns a Response."
      : "Return markup.";
    throw new MarkupError(`The ${subject} returned ${description}, which cannot be rendered. ${fix}`, location);
  }
}

/** Returns the location of a page's declaration. The development server runs in the project's folder. */
function pageLocation({ file, line }: PageSource): ElementLocation {
  return { fileName: resolve(file), lineNumber: line, columnNumber: 1 };
}
