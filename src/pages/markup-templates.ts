/**
 * Writes markup whose elements are static as text around its values, in place of nodes that the renderer visits. The ordinary
 * way is that of all other nodes: `rendering.ts` takes it if {@link writeTemplate} returns `undefined`, and in development.
 *
 * Measured 2026-11, CPU time of `app.fetch` with and without templates, alternating in one process on Node 20: a page with a
 * table of 50 rows takes 25 to 34% less. On the page of the board example, most of which is a view of components and its
 * queries, no difference could be measured.
 */
import { h, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { setActiveRender } from "./render-state.ts";
import { type BuildMarkup, isNode, type TemplateHtml, TemplateNode, type TemplateParts } from "./template-node.ts";

type ContainsPromise = (children: unknown) => boolean;

/** HTML that is being written: `text` follows the last node. */
class HtmlWriter {
  readonly tpl: string[] = [];
  readonly exprs: unknown[] = [];
  text = "";

  node(node: unknown): void {
    this.tpl.push(this.text);
    this.exprs.push(node);
    this.text = "";
  }
}

/**
 * Returns the HTML of a node of a template, with the nodes in it that are of no template: the same bytes and the same
 * nodes as without the template.
 *
 * @returns `undefined` if its values are more than text and nodes: it is then rendered like other nodes
 * @throws MarkupError if `containsPromise` throws, as for the node without the template
 */
export function writeTemplate(node: TemplateNode, containsPromise: ContainsPromise): TemplateHtml | undefined {
  const out = new HtmlWriter();
  if (!writeNode(node, out, containsPromise)) return undefined;
  out.tpl.push(out.text);
  return out;
}

/** Writes the HTML of a node. Returns `false`, and writes nothing, if its values have to be seen by the renderer. */
function writeNode(node: TemplateNode, out: HtmlWriter, containsPromise: ContainsPromise): boolean {
  const { template, values } = node;
  if (template.parts === undefined) template.parts = readParts(template.build, values.length);
  const { parts } = template;
  if (!parts || !canWrite(values, parts, containsPromise)) return false;
  const { html, attributes, openings } = parts;
  let text = out.text; // a variable is faster than the field, for most values are text
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const name = attributes[i];
    if (name && typeof value === "string" && value !== "") text += `${openings[i]}${escapeText(value)}"`;
    else if (name) text += html[i] + attribute(name, value);
    else if (typeof value === "string") text += html[i] + escapeText(value);
    else if (typeof value === "number") text += html[i] + String(value);
    else {
      out.text = text + html[i];
      writeChild(value, out, containsPromise);
      text = out.text;
    }
  }
  out.text = text + html[values.length];
  return true;
}

/** Returns whether all values are text, nothing, or nodes. Nothing else is common, and the renderer has rules for it. */
function canWrite(
  values: readonly unknown[],
  { attributes, hasPlainBooleans }: TemplateParts,
  containsPromise: ContainsPromise,
): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    switch (typeof value) {
      case "string":
      case "number":
      case "undefined":
        break;
      case "boolean":
        if (attributes[i] && !hasPlainBooleans) return false;
        break;
      case "object":
        if (value !== null && (attributes[i] || !canWriteChild(value, containsPromise))) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

/** A signal is a node as well, and the renderer reads its value if it is the only child. */
function canWriteChild(value: object, containsPromise: ContainsPromise): boolean {
  if (value instanceof TemplateNode) return true;
  return Array.isArray(value) ? !containsPromise(value) : isNode(value) && !("peek" in value);
}

function attribute(name: string, value: unknown): string {
  if (value === undefined || value === null || value === false) return "";
  if (value === true || value === "") return ` ${name}`;
  return ` ${name}="${escapeText(String(value))}"`;
}

/** Writes a child as the renderer does. Children of arrays may be anything. */
function writeChild(value: unknown, out: HtmlWriter, containsPromise: ContainsPromise): void {
  if (typeof value === "string") out.text += escapeText(value);
  else if (value === undefined || value === null || typeof value === "boolean" || typeof value === "function") return;
  else if (typeof value !== "object")
    out.text += value as number; // a symbol throws, as in the renderer
  else if (Array.isArray(value)) for (const item of value) writeChild(item, out, containsPromise);
  else if (value instanceof TemplateNode) {
    if (!writeNode(value, out, containsPromise)) out.node(value);
  } else if (isNode(value)) out.node(value);
}

const ESCAPED = /["&<]/;

/**
 * Escapes the characters that the renderer escapes. A page has many short texts: `replace()` with a function takes twice
 * the time.
 */
function escapeText(text: string): string {
  if (!ESCAPED.test(text)) return text;
  let html = "";
  let written = 0;
  for (let i = 0; i < text.length; i++) {
    const entity = entityOf(text.charCodeAt(i));
    if (entity === "") continue;
    html += text.slice(written, i) + entity;
    written = i + 1;
  }
  return html + text.slice(written);
}

function entityOf(code: number): string {
  switch (code) {
    case 0x22:
      return "&quot;";
    case 0x26:
      return "&amp;";
    case 0x3c:
      return "&lt;";
    default:
      return "";
  }
}

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
function readParts(build: BuildMarkup, length: number): TemplateParts | null {
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
