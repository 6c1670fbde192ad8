import {
  CSRF_META,
  type FormSubmission,
  PAGE_DATA_ID,
  type PageSource,
  toJson,
  type ViewSource,
} from "../protocol/index.ts";
import { deferredUrl, LATER_SCRIPT_PATH } from "./later-scripts.ts";
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
  /** The tag of the client's sign-in; `null` for a signed-out client. */
  readonly tag: string | null;
  /** Whether the document is sent to all clients. */
  readonly isForAll?: boolean;
  /** In development: the HTML of each island, with which the browser compares what it renders itself. */
  readonly islandHtml?: readonly string[] | undefined;
  /** The CSRF token of the page's calls; `null` if CSRF tokens are not configured. */
  readonly csrfToken: string | null;
  /** The form that was sent without script, if a view contains it. */
  readonly form: FormSubmission | null;
  readonly base: string;
  readonly styles: readonly string[];
  /** The URL of the style sheet of transitions between pages; absent without them. */
  readonly transitions?: string | null | undefined;
  readonly assets: Assets | null;
  /** The address that has the whole page, if parts of it follow; `null` for a document without parts. */
  readonly wholeAddress?: string | null;
}

/** The end of a document. The parts of a page are sent before it. */
export const DOCUMENT_END = "</body></html>";

/** Returns the whole HTML document. If parts follow, it has no {@link DOCUMENT_END}. */
export function writeDocument(parts: DocumentParts): string {
  const { htmlAttributes, bodyAttributes, title, head, body, assets, base, styles, islands, wholeAddress } = parts;
  const links = documentLinks({ assets, base, styles, views: islands.map(({ source }) => source) });
  const isShell = wholeAddress != null;
  // Before the sheets of the application, which may change the transition.
  const transitions = parts.transitions ? `<link rel="stylesheet" href="${escapeHtml(parts.transitions)}">` : "";
  const html =
    `<!doctype html><html${renderAttributes(htmlAttributes)}><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    // Before all content of the application: the browser uses the first element with the id.
    renderPageData(parts, links) +
    `<title>${escapeHtml(title)}</title>${transitions}${links.html}${isShell ? laterPreload(base) : links.scripts}${head}</head>` +
    `<body${renderAttributes(bodyAttributes)}>${body}${isShell ? shellEnd(parts, links) : DOCUMENT_END}`;
  return withBase(html, parts);
}

/** Replaces the placeholder at the start of the URLs of imported files. */
function withBase(html: string, { assets, base }: Pick<DocumentParts, "assets" | "base">): string {
  return assets?.base ? html.replaceAll(assets.base, `${base}/`) : html;
}

/** The browser then has the script when the first part arrives. */
function laterPreload(base: string): string {
  return `<link rel="preload" as="script" href="${escapeHtml(base + LATER_SCRIPT_PATH)}">`;
}

/**
 * Returns what follows the body of a page of which parts follow. The scripts of the page run at once: deferred ones would wait for
 * the end of the document.
 *
 * A browser that has neither scripts nor `<template for>` requests the whole page. One without scripts that has `<template for>`
 * replaces that by a refresh to an address that no browser opens, because a refresh cannot be taken back.
 */
function shellEnd({ mark, wholeAddress }: DocumentParts, links: DocumentLinks): string {
  const scripts = links.scripts.replaceAll('<script type="module"', '<script type="module" async');
  const refresh = (address: string) =>
    `<noscript><meta http-equiv="refresh" content="0;url=${escapeHtml(address)}"></noscript>`;
  const name = partName(mark, "refresh");
  return (
    scripts +
    placeholderStart(name) +
    refresh(wholeAddress ?? "") +
    PLACEHOLDER_END +
    `<template for="${name}">${refresh("data:,")}</template>`
  );
}

/** Returns the name of the place of a part. It is random: other HTML cannot imitate it. */
export function partName(mark: string, part: number | "refresh"): string {
  return `${mark}-${part}`;
}

/** Returns the start of the place of a part, which {@link PLACEHOLDER_END} ends. */
export function placeholderStart(name: string): string {
  return `<?start name="${name}">`;
}

/** The end of the place of a part. */
export const PLACEHOLDER_END = "<?end>";

/** A part of a page that follows its document. */
export interface DocumentPart extends Pick<DocumentParts, "mark" | "islandHtml" | "base" | "styles" | "assets"> {
  readonly index: number;
  readonly html: string;
  /** Its islands. Those of the document and of earlier parts come before. */
  readonly islands: readonly Island[];
  readonly firstIsland: number;
}

/**
 * Returns the HTML with which a part replaces its place: its content, its page data, and the script for browsers that do not have
 * `<template for>`, which also hydrates its views.
 *
 * @see docs/protocol.md 11.9
 */
export function writePart(part: DocumentPart): string {
  const { mark, index, html, islands, firstIsland, islandHtml, assets, base } = part;
  const views = islands.map(({ source }) => source);
  const links = prepareLinks({ assets, base, styles: [], views }, firstIsland);
  const hasViews = views.length > 0 && assets !== null;
  const startUrl = (assets?.atRoot ? "" : base) + assets?.partViews.src;
  const viewsJson = hasViews
    ? `,"src":${JSON.stringify(startUrl)},"first":${firstIsland},"views":${viewsToJson(islands, links, islandHtml)}`
    : "";
  const json = `{"mark":${JSON.stringify(mark)},"part":${index}${viewsJson}}`;
  return withBase(
    (hasViews ? links.preloads : "") +
      `<template for="${partName(mark, index)}">${html}</template>` +
      `<script type="application/json">${escapeScript(json)}</script>` +
      `<script src="${escapeHtml(base + LATER_SCRIPT_PATH)}"></script>`,
    part,
  );
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
  const { base, islands, mark, tag, csrfToken, form, assets, wholeAddress } = parts;
  if (!assets || (islands.length === 0 && (wholeAddress == null || assets.islands.src === ""))) return "";
  const formJson = form ? `,"form":${toJson(form)}` : "";
  const build = assets.build === undefined ? "" : `,"build":${JSON.stringify(assets.build)}`;
  const tagJson = parts.isForAll ? ',"tag":null' : tag === null ? "" : `,"tag":${JSON.stringify(tag)}`;
  const json = `{"base":${JSON.stringify(base)}${build}${tagJson},"mark":${JSON.stringify(mark)},"views":${viewsToJson(islands, links, parts.islandHtml)}${formJson}}`;
  const token = csrfToken === null ? "" : `<meta name="${CSRF_META}" content="${escapeHtml(csrfToken)}">`;
  return `<script type="application/json" id="${PAGE_DATA_ID}">${escapeScript(json)}</script>${token}`;
}

function viewsToJson(
  islands: readonly Island[],
  links: DocumentLinks,
  islandHtml: DocumentParts["islandHtml"],
): string {
  const views = islands.map(({ props }, index) => {
    const html = islandHtml ? `,"html":${JSON.stringify(islandHtml[index])}` : "";
    return `${links.views[index]}${props}${html}}`;
  });
  return `[${views.join(",")}]`;
}

/** What the style sheets and the scripts of a document depend on. */
interface LinkedParts {
  readonly assets: Assets | null;
  readonly base: string;
  /** The style sheets of the page, as `Assets.styles` returns them. */
  readonly styles: readonly string[];
  /** The outermost views of the page, in order. */
  readonly views: readonly ViewSource[];
}

/** The parts of a document that are equal for all renderings of a page with the same views. */
interface DocumentLinks {
  /** The HTML of the style sheets, and of what the scripts import. */
  readonly html: string;
  /** The part of it for what the scripts import. */
  readonly preloads: string;
  /** The HTML of the scripts. */
  readonly scripts: string;
  /** The beginning of the JSON of each view, which its props follow. */
  readonly views: readonly string[];
}

/** The links of the last rendering of each page of a build, by its list of style sheets. */
const known = new WeakMap<readonly string[], { readonly parts: LinkedParts; readonly links: DocumentLinks }>();

/**
 * Returns the links of a document. Those of a build are prepared once for each page, as long as its views stay the same; those of
 * the development server change with each edit.
 */
function documentLinks(parts: LinkedParts): DocumentLinks {
  if (parts.assets?.build === undefined) return prepareLinks(parts);
  const last = known.get(parts.styles);
  if (last && isEqual(last.parts, parts)) return last.links;
  const links = prepareLinks(parts);
  known.set(parts.styles, { parts, links });
  return links;
}

function isEqual(a: LinkedParts, b: LinkedParts): boolean {
  if (a.assets !== b.assets || a.base !== b.base || a.views.length !== b.views.length) return false;
  return a.views.every((view, index) => view === b.views[index]);
}

/** @param firstIsland the number of the first view */
function prepareLinks(parts: LinkedParts, firstIsland = 0): DocumentLinks {
  const { assets, base, styles, views } = parts;
  const prefix = assets?.atRoot ? "" : base;
  const sheets = styles.map((href) => `<link rel="stylesheet" href="${escapeHtml(prefix + href)}">`).join("");
  if (!assets) return { html: sheets, preloads: "", scripts: "", views: [] };
  const viewAssets = views.map((view) => assets.view(view));
  const hydratedAtOnce = viewAssets.filter((_, index) => !views[index]?.hydrate);
  const used = views.length > 0 ? [assets.islands, ...hydratedAtOnce] : [];
  const scripts = used.length > 0 ? [...assets.scripts, assets.islands.src] : assets.scripts;
  const modules = new Set(used.flatMap(({ src, preload }) => [src, ...preload]));
  for (const script of scripts) modules.delete(script);
  const preloads = [...modules]
    .map((href) => `<link rel="modulepreload" href="${escapeHtml(prefix + href)}">`)
    .join("");
  // Vite's script reads the nonce for the style elements that it inserts.
  const nonce = assets.nonce === undefined ? "" : ` nonce="${escapeHtml(assets.nonce)}"`;
  const scriptTag = (src: string) => {
    const isOfBuildTool = assets.scripts.includes(src); // the page script is allowed as in production
    return `<script type="module" src="${escapeHtml(prefix + src)}"${isOfBuildTool ? nonce : ""}></script>`;
  };
  return {
    html: `${nonce && `<meta property="csp-nonce"${nonce}>`}${sheets}${preloads}`,
    preloads,
    scripts: scripts.map(scriptTag).join(""),
    views: views.map(({ name, hydrate: when }, index) => {
      const src = prefix + viewAssets[index]?.src;
      const [from, exported] = when
        ? [deferredUrl(base, { when, island: firstIsland + index, src, name }), "view"]
        : [src, name];
      return `{"src":${JSON.stringify(from)},"name":${JSON.stringify(exported)},"props":`;
    }),
  };
}

/** The script of a view. */
export interface ViewAsset {
  readonly src: string;
  /** The URLs of all modules that it imports, so that the browser can fetch them at once. */
  readonly preload: readonly string[];
}

/**
 * The scripts and style sheets of pages, from the build's manifest or from the development server. URLs start with a
 * slash and do not contain the application's base.
 */
export interface Assets {
  /** The scripts of every page. Empty in production. */
  readonly scripts: readonly string[];
  /** The id of the build, which the calls of pages carry. Absent in development. */
  readonly build?: string;
  /** In development: the nonce of `scripts`, and of the style elements that they insert. */
  readonly nonce?: string;
  /** In development: scripts and style sheets are not below the application's base. */
  readonly atRoot?: true;
  /**
   * The placeholder at the start of URLs of imported files in the markup. It is replaced by the application's base and a
   * slash. Absent if the URLs need no replacement.
   */
  readonly base?: string;
  /** The page script, which hydrates views. */
  readonly islands: ViewAsset;
  /** What the script of a part imports to start its views. */
  readonly partViews: ViewAsset;
  view(source: ViewSource): ViewAsset;
  /**
   * Returns the style sheets of a page, in order; with a build always the same list. `null` stands for an error page, which
   * has no source.
   */
  styles(page: PageSource | null): readonly string[];
}

/** Escapes text for HTML, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text; // most names and URLs
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/**
 * Escapes JSON for a script element; the result is equal JSON. Without `<`, it cannot contain `</script>` or `<!--`.
 * U+2028 and U+2029 are escaped for parsers older than ES2019.
 */
export function escapeScript(json: string): string {
  if (!/[<>\u2028\u2029]/.test(json)) return json;
  return json
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}
