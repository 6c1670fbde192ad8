import type { ViewSource } from "../protocol/index.ts";
import type { Assets, ViewAsset } from "./assets.ts";
import { escapeHtml } from "./escape-html.ts";

/** What the style sheets and the scripts of a document depend on. */
export interface LinkedParts {
  readonly assets: Assets | null;
  readonly base: string;
  /** The style sheets of the page, as `Assets.styles` returns them. */
  readonly styles: readonly string[];
  /** The outermost views of the page, in order. */
  readonly views: readonly ViewSource[];
}

/** The parts of a document that are equal for all renderings of a page with the same views. */
export interface DocumentLinks {
  /** The HTML of the style sheets and the scripts. */
  readonly html: string;
  /** The beginning of the JSON of each view, which its props follow. */
  readonly views: readonly string[];
}

/** The links of the last rendering of each page of a build, by its list of style sheets. */
const known = new WeakMap<readonly string[], { readonly parts: LinkedParts; readonly links: DocumentLinks }>();

/**
 * Returns the links of a document. Those of a build are prepared once for each page, as long as its views stay the same; those of
 * the development server change with each edit.
 */
export function documentLinks(parts: LinkedParts): DocumentLinks {
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

function prepareLinks(parts: LinkedParts): DocumentLinks {
  const { assets, base, styles, views } = parts;
  const prefix = assets?.atRoot ? "" : base;
  const sheets = styles.map((href) => `<link rel="stylesheet" href="${escapeHtml(prefix + href)}">`).join("");
  if (!assets) return { html: sheets, views: [] };
  const viewAssets = views.map((view) => assets.view(view));
  return {
    html: renderLinks(assets, { prefix, sheets, views: viewAssets }),
    views: views.map(({ name }, index) => {
      const src = JSON.stringify(prefix + viewAssets[index]?.src);
      return `{"src":${src},"name":${JSON.stringify(name)},"props":`;
    }),
  };
}

interface Links {
  /** The prefix of all URLs. */
  readonly prefix: string;
  /** The HTML of the style sheets. */
  readonly sheets: string;
  readonly views: readonly ViewAsset[];
}

function renderLinks(assets: Assets, { prefix, sheets, views }: Links): string {
  const used = views.length > 0 ? [assets.islands, ...views] : [];
  const preloads = new Set(used.flatMap(({ src, preload }) => [src, ...preload]));
  const scripts = used.length > 0 ? [...assets.scripts, assets.islands.src] : assets.scripts;
  for (const script of scripts) preloads.delete(script);
  // Vite's script reads the nonce for the style elements that it inserts.
  const nonce = assets.nonce === undefined ? "" : ` nonce="${escapeHtml(assets.nonce)}"`;
  return [
    nonce && `<meta property="csp-nonce"${nonce}>`,
    sheets,
    ...[...preloads].map((href) => `<link rel="modulepreload" href="${escapeHtml(prefix + href)}">`),
    ...scripts.map((src) => {
      const isOfBuildTool = assets.scripts.includes(src); // the page script is allowed as in production
      return `<script type="module" src="${escapeHtml(prefix + src)}"${isOfBuildTool ? nonce : ""}></script>`;
    }),
  ].join("");
}
