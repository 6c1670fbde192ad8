import { h, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { setActiveRender } from "./render-state.ts";
import type { BuildMarkup, TemplateParts } from "./template-node.ts";

/** The placeholder of a value. Source text cannot contain a NUL, and the renderer does not change it. */
const placeholder = (index: number) => `\0${index}\0`;

/** The start tag of an element whose first line feed the HTML parser removes: it may need another one (`keepLineFeed`). */
const DROPS_LINE_FEED = /<(?:pre|textarea|listing)[ >]/;

/** The end of HTML before a value that is an attribute. In text, the renderer escapes quotes. */
const ATTRIBUTE_START = / ([^\s"'<>/=]+)="$/;

/**
 * Returns the HTML of a template around its values, as the renderer itself writes it: the markup is rendered with
 * placeholders, so that the names of attributes, escaped text and void elements are those of the installed renderer.
 *
 * @param length the number of values
 * @returns `null` if the HTML depends on more than the values: on an SVG image around it, for example
 */
export function readParts(build: BuildMarkup, length: number): TemplateParts | null {
  const placeholders = Array.from({ length }, (_, index) => placeholder(index));
  const html = renderApart(build(placeholders));
  if (DROPS_LINE_FEED.test(html)) return null;
  if (renderApart(h("svg", null, build(placeholders))) !== `<svg>${html}</svg>`) return null;
  const parts = splitHtml(html, placeholders);
  if (!parts || parts.attributes.every((name) => name === null)) return parts && { ...parts, hasPlainBooleans: true };
  const rendersAs = (value: boolean, attribute: (name: string) => string) => {
    const values = parts.attributes.map((name) => (name === null ? "" : value));
    const expected = parts.attributes.map((name) => (name === null ? "" : attribute(name)));
    return renderApart(build(values)) === joinHtml(parts.html, expected);
  };
  return { ...parts, hasPlainBooleans: rendersAs(true, (name) => ` ${name}`) && rendersAs(false, () => "") };
}

/** Renders markup outside the page that is being rendered: its hooks do nothing. */
function renderApart(markup: VNode): string {
  const active = setActiveRender(undefined);
  try {
    return renderToString(markup);
  } finally {
    setActiveRender(active);
  }
}

function splitHtml(html: string, placeholders: readonly string[]): Omit<TemplateParts, "hasPlainBooleans"> | null {
  const parts: string[] = [];
  const attributes: (string | null)[] = [];
  let rest = html;
  for (const text of placeholders) {
    const at = rest.indexOf(text);
    if (at < 0) return null;
    const before = rest.slice(0, at);
    rest = rest.slice(at + text.length);
    const name = ATTRIBUTE_START.exec(before)?.[1];
    if (name !== undefined && !rest.startsWith('"')) return null;
    parts.push(name === undefined ? before : before.slice(0, -` ${name}="`.length));
    if (name !== undefined) rest = rest.slice(1);
    attributes.push(name ?? null);
  }
  parts.push(rest);
  if (parts.some((part) => part.includes("\0"))) return null;
  const openings = attributes.map((name, index) => (name === null ? "" : `${parts[index]} ${name}="`));
  return { html: parts, attributes, openings };
}

function joinHtml(parts: readonly string[], values: readonly string[]): string {
  return parts.map((part, index) => part + (values[index] ?? "")).join("");
}
