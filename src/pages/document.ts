import { CSRF_META, type FormSubmission, PAGE_DATA_ID, toJson } from "../protocol/index.ts";
import type { Assets } from "./assets.ts";
import { type DocumentLinks, documentLinks } from "./document-links.ts";
import { escapeHtml, escapeScript } from "./escape-html.ts";
import type { Attributes, Island } from "./render-state.ts";

/** The parts of a document. `head` and `body` are HTML; the title and the values of attributes are text. */
export interface DocumentParts {
  readonly htmlAttributes: Attributes;
  readonly bodyAttributes: Attributes;
  readonly title: string;
  readonly head: string;
  readonly body: string;
  readonly islands: readonly Island[];
  readonly mark: string;
  /** In development: the HTML of each island, with which the browser compares what it renders itself. */
  readonly islandHtml?: readonly string[] | undefined;
  /** The CSRF token of the page's calls; `null` if CSRF tokens are not configured. */
  readonly csrfToken: string | null;
  /** The form that was sent without script, if a view contains it. */
  readonly form: FormSubmission | null;
  readonly base: string;
  readonly styles: readonly string[];
  readonly assets: Assets | null;
}

/** Returns the whole HTML document. */
export function writeDocument(parts: DocumentParts): string {
  const { htmlAttributes, bodyAttributes, title, head, body, assets, base, styles, islands } = parts;
  const links = documentLinks({ assets, base, styles, views: islands.map(({ source }) => source) });
  const html =
    `<!doctype html><html${renderAttributes(htmlAttributes)}><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    // Before all content of the application: the browser uses the first element with the id.
    renderPageData(parts, links) +
    `<title>${escapeHtml(title)}</title>${links.html}${head}</head><body${renderAttributes(bodyAttributes)}>${body}</body></html>`;
  return assets?.base ? html.replaceAll(assets.base, `${base}/`) : html;
}

function renderAttributes(attributes: Attributes): string {
  let html = "";
  for (const [name, value] of Object.entries(attributes)) html += ` ${name}="${escapeHtml(value)}"`;
  return html;
}

/**
 * Returns the page data for the page script and the CSRF token; an empty string for a page without views.
 *
 * @see docs/protocol.md 11.7
 */
function renderPageData(parts: DocumentParts, links: DocumentLinks): string {
  const { base, islands, mark, csrfToken, form, assets } = parts;
  if (islands.length === 0 || !assets) return "";
  const views = islands.map(({ props }, index) => {
    const html = parts.islandHtml ? `,"html":${JSON.stringify(parts.islandHtml[index])}` : "";
    return `${links.views[index]}${props}${html}}`;
  });
  const formJson = form ? `,"form":${toJson(form)}` : "";
  const build = assets.build === undefined ? "" : `,"build":${JSON.stringify(assets.build)}`;
  const json = `{"base":${JSON.stringify(base)}${build},"mark":${JSON.stringify(mark)},"views":[${views.join(",")}]${formJson}}`;
  const token = csrfToken === null ? "" : `<meta name="${CSRF_META}" content="${escapeHtml(csrfToken)}">`;
  return `<script type="application/json" id="${PAGE_DATA_ID}">${escapeScript(json)}</script>${token}`;
}
