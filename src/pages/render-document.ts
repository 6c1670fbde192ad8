import { resolve } from "node:path";
import { h } from "preact";
import { isPromise, type RequestContext, randomHex } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import type { Markup, PageSource } from "../protocol/index.ts";
import { issueCsrfToken } from "../session/index.ts";
import type { Assets } from "./assets.ts";
import { writeDocument } from "./document.ts";
import type { ErrorPageProps } from "./error-page.ts";
import { splitHead } from "./head.ts";
import type { Layout, PageOptions } from "./page.ts";
import {
  describeUnrenderable,
  type ElementLocation,
  MarkupError,
  type RenderState,
  renderMarkup,
} from "./rendering.ts";

/** The settings that all pages of an application share. */
export interface PageSettings {
  readonly title: string;
  readonly lang: string;
  readonly base: string;
  readonly layout: Layout | null;
  readonly error: (props: ErrorPageProps) => Markup;
  readonly development: boolean;
  readonly log: Logger;
  /** `null` without a build: pages then have no scripts and style sheets. */
  readonly assets: Assets | null;
  /** In development: renders a page that shows an unexpected error to the developer. */
  readonly showError?: (error: unknown, id: string) => Promise<string>;
}

/** The parts of a page definition that its document needs. An error page has no source. */
export interface DocumentSource {
  readonly options: PageOptions;
  readonly source: PageSource | null;
}

/**
 * Renders the markup of a page, in its layout, as a whole HTML document.
 *
 * @throws MarkupError if the markup cannot be rendered
 */
export function renderDocument(
  context: RequestContext,
  markup: Markup,
  { options, source }: DocumentSource,
  settings: PageSettings,
): string {
  const location = settings.development && source ? pageLocation(source) : undefined;
  if (isPromise(markup)) throw new MarkupError("The markup of the page is a promise. Await it first.", location);
  if (settings.development) checkMarkup(markup, location);
  const state: RenderState = {
    development: settings.development,
    mark: randomHex(6),
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
    head: rest.length > 0 ? renderMarkup(rest, { ...state, inHead: true }) : "",
    body,
    islands: state.islands,
    mark: state.mark,
    csrfToken: state.islands.length > 0 ? issueCsrfToken(context) : null,
    base: settings.base,
    styles: settings.assets?.styles(source) ?? [],
    assets: settings.assets,
  });
}

/** @throws MarkupError if the page returned `undefined` or an object: the renderer would show an empty page */
function checkMarkup(markup: unknown, location: ElementLocation | undefined): void {
  if (markup === undefined) {
    throw new MarkupError("The page returned undefined. Return its markup, or null for an empty page.", location);
  }
  const description = describeUnrenderable(markup);
  if (description) {
    throw new MarkupError(`The page returned ${description}, which cannot be rendered. Return markup.`, location);
  }
}

/** Returns the location of a page's declaration. The development server runs in the project's folder. */
function pageLocation({ file, line }: PageSource): ElementLocation {
  return { fileName: resolve(file), lineNumber: line, columnNumber: 1 };
}
