import { CSRF_META, type FormSubmission, PAGE_DATA_ID, toJson } from "../protocol/index.ts";
import type { Assets } from "./assets.ts";
import type { Island } from "./render-state.ts";

/** The parts of a document. `head` and `body` are HTML; `title` and `lang` are text. */
export interface DocumentParts {
  readonly lang: string;
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
  const { lang, title, head, body, assets, base } = parts;
  const html =
    `<!doctype html><html lang="${escapeHtml(lang)}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    // Before all content of the application: the browser uses the first element with the id.
    renderPageData(parts) +
    `<title>${escapeHtml(title)}</title>${renderLinks(parts)}${head}</head><body>${body}</body></html>`;
  return assets?.base ? html.replaceAll(assets.base, `${base}/`) : html;
}

/** Returns the prefix of the URLs of scripts and style sheets. */
function assetPrefix({ assets, base }: DocumentParts): string {
  return assets?.atRoot ? "" : base;
}

/**
 * Returns the page data for the page script and the CSRF token; an empty string for a page without views.
 *
 * @see docs/protocol.md 11.7
 */
function renderPageData(parts: DocumentParts): string {
  const { base, islands, mark, csrfToken, form, assets } = parts;
  if (islands.length === 0 || !assets) return "";
  const views = islands.map(({ source, props }, index) => {
    const src = JSON.stringify(assetPrefix(parts) + assets.view(source).src);
    const html = parts.islandHtml ? `,"html":${JSON.stringify(parts.islandHtml[index])}` : "";
    return `{"src":${src},"name":${JSON.stringify(source.name)},"props":${props}${html}}`;
  });
  const formJson = form ? `,"form":${toJson(form)}` : "";
  const build = assets.build === undefined ? "" : `,"build":${JSON.stringify(assets.build)}`;
  const json = `{"base":${JSON.stringify(base)}${build},"mark":${JSON.stringify(mark)},"views":[${views.join(",")}]${formJson}}`;
  const token = csrfToken === null ? "" : `<meta name="${CSRF_META}" content="${escapeHtml(csrfToken)}">`;
  return `<script type="application/json" id="${PAGE_DATA_ID}">${escapeScript(json)}</script>${token}`;
}

function renderLinks(parts: DocumentParts): string {
  const { styles, assets, islands } = parts;
  const prefix = assetPrefix(parts);
  const sheets = styles.map((href) => `<link rel="stylesheet" href="${escapeHtml(prefix + href)}">`);
  if (!assets) return sheets.join("");
  const used = islands.length > 0 ? [assets.islands, ...islands.map(({ source }) => assets.view(source))] : [];
  const preloads = new Set(used.flatMap(({ src, preload }) => [src, ...preload]));
  const scripts = used.length > 0 ? [...assets.scripts, assets.islands.src] : assets.scripts;
  for (const script of scripts) preloads.delete(script);
  // Vite's script reads the nonce for the style elements that it inserts.
  const nonce = assets.nonce === undefined ? "" : ` nonce="${escapeHtml(assets.nonce)}"`;
  return [
    ...(nonce ? [`<meta property="csp-nonce"${nonce}>`] : []),
    ...sheets,
    ...[...preloads].map((href) => `<link rel="modulepreload" href="${escapeHtml(prefix + href)}">`),
    ...scripts.map((src) => {
      const isOfBuildTool = assets.scripts.includes(src); // the page script is allowed as in production
      return `<script type="module" src="${escapeHtml(prefix + src)}"${isOfBuildTool ? nonce : ""}></script>`;
    }),
  ].join("");
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
  return json
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}
