import type { Assets } from "./assets.ts";
import type { Island } from "./rendering.ts";

/** What a document is made of. All but the titles and the language is HTML already. */
export interface DocumentParts {
  readonly lang: string;
  readonly title: string;
  readonly head: string;
  readonly body: string;
  readonly islands: readonly Island[];
  readonly mark: string;
  /** What the page's calls prove with that they come from the page; `null` where nothing asks for it. */
  readonly csrfToken: string | null;
  readonly base: string;
  readonly styles: readonly string[];
  readonly assets: Assets | null;
}

/** Writes the whole document. */
export function writeDocument(parts: DocumentParts): string {
  const { lang, title, head, body, assets, base } = parts;
  const html =
    `<!doctype html><html lang="${escapeHtml(lang)}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    // Before anything of the page's own, so that the first element of its id is always ours.
    pageData(parts) +
    `<title>${escapeHtml(title)}</title>${links(parts)}${head}</head><body>${body}</body></html>`;
  return assets?.base ? html.replaceAll(assets.base, `${base}/`) : html;
}

/** What stands before the addresses of scripts and style sheets. */
function prefix({ assets, base }: DocumentParts): string {
  return assets?.atRoot ? "" : base;
}

/** What the page script reads: which views stand on the page and with what props. */
function pageData(parts: DocumentParts): string {
  const { base, islands, mark, csrfToken, assets } = parts;
  if (islands.length === 0 || !assets) return "";
  const views = islands.map(({ source, props }) => {
    const src = JSON.stringify(prefix(parts) + assets.view(source).src);
    return `{"src":${src},"name":${JSON.stringify(source.name)},"props":${props}}`;
  });
  const json = `{"base":${JSON.stringify(base)},"mark":${JSON.stringify(mark)},"views":[${views.join(",")}]}`;
  const token = csrfToken === null ? "" : `<meta name="csrf-token" content="${escapeHtml(csrfToken)}">`;
  return `<script type="application/json" id="tsweb">${escapeScript(json)}</script>${token}`;
}

function links(parts: DocumentParts): string {
  const { styles, assets, islands } = parts;
  const at = prefix(parts);
  const sheets = styles.map((href) => `<link rel="stylesheet" href="${escapeHtml(at + href)}">`);
  if (!assets) return sheets.join("");
  const used = islands.length > 0 ? [assets.islands, ...islands.map(({ source }) => assets.view(source))] : [];
  const preloads = new Set(used.flatMap(({ src, preload }) => [src, ...preload]));
  const scripts = used.length > 0 ? [...assets.scripts, assets.islands.src] : assets.scripts;
  for (const script of scripts) preloads.delete(script);
  return [
    ...sheets,
    ...[...preloads].map((href) => `<link rel="modulepreload" href="${escapeHtml(at + href)}">`),
    ...scripts.map((src) => `<script type="module" src="${escapeHtml(at + src)}"></script>`),
  ].join("");
}

/** Makes text safe in HTML, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/**
 * Makes JSON safe in a script element, the same JSON still: no `<` is left to begin `</script>` or
 * `<!--`, and no line separator that old parsers choke on.
 */
export function escapeScript(json: string): string {
  return json
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}
