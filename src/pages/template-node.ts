import { Fragment, h, type VNode } from "preact";

/**
 * The function that the compile step makes of static markup: it returns the markup as nodes, as if it had not been compiled.
 *
 * @param values the values of its expressions, in order
 * @param key the value of the root element's `key`
 */
export type BuildMarkup = (values: readonly unknown[], key?: unknown) => VNode;

/** Markup whose elements and attributes are static. Written once in the source, and created many times. */
interface MarkupTemplate {
  readonly build: BuildMarkup;
  /** The name of the root element. */
  readonly type: string;
  /** The HTML around the values. `undefined` until the first rendering; `null` if the HTML depends on more than the values. */
  parts: TemplateParts | null | undefined;
}

/** The HTML of a template around its values. */
export interface TemplateParts {
  /** The HTML before each value, and after the last one. */
  readonly html: readonly string[];
  /** The name of the attribute that each value is; `null` for a child. */
  readonly attributes: readonly (string | null)[];
  /** The HTML before each value that is an attribute with a text, with its name and the opening quote; empty for a child. */
  readonly openings: readonly string[];
  /** Whether `true` is an attribute without a value, and `false` none. Some attributes have the texts "true" and "false". */
  readonly hasPlainBooleans: boolean;
}

/** HTML with nodes in it, under the names of Preact: each node comes after the text of the same index. */
export interface TemplateHtml {
  readonly tpl: readonly string[];
  readonly exprs: readonly unknown[];
}

/** Returns a node between two texts of HTML. */
export function htmlAround(start: string, node: object | null, end: string): VNode {
  const html: TemplateHtml = { tpl: [start, end], exprs: [node] };
  return h(Fragment, html as object); // the renderer writes the HTML in these props; Preact's types omit them
}

/** What Preact recognises a node by. */
const { constructor: MARKER } = h("i", null);

/** Returns whether a value is a node of Preact. */
export function isNode(value: object): boolean {
  return value.constructor === MARKER;
}

/**
 * A node of the root element of a template. For all code but the rendering of a page, it is the node that the markup has
 * without templates: its props, and the nodes below it, are created when they are read. An application may inspect or clone
 * its markup, and Preact may render it elsewhere.
 */
export class TemplateNode {
  type: VNode["type"];
  readonly key: unknown;
  ref: unknown;
  // The fields that the renderer sets.
  __: unknown = null;
  __k: unknown = null;
  readonly template: MarkupTemplate;
  readonly values: readonly unknown[];
  #props: VNode["props"] | undefined;
  #html: TemplateHtml | undefined;

  constructor(template: MarkupTemplate, values: readonly unknown[], key: unknown) {
    this.type = template.type;
    this.key = key;
    (this as { constructor: unknown }).constructor = MARKER; // TypeScript knows it as that of the prototype
    this.template = template;
    this.values = values;
  }

  get props(): VNode["props"] {
    // Preact's types omit the props of a fragment of HTML.
    if (this.#html) return this.#html as object as VNode["props"];
    this.#props ??= this.template.build(this.values, this.key).props;
    return this.#props;
  }

  set props(props: VNode["props"]) {
    this.#props = props;
  }

  /** Makes the node a fragment with HTML, until {@link hideHtml}. */
  showHtml(html: TemplateHtml): void {
    this.type = Fragment;
    this.#html = html;
  }

  hideHtml(): void {
    this.type = this.template.type;
    this.#html = undefined;
  }
}

const templates = new WeakMap<BuildMarkup, MarkupTemplate>();

/**
 * Returns the markup of a template. Called by the code that the compile step generates.
 *
 * The first node of each template is created without it, because its type is not known before.
 */
export function template(build: BuildMarkup, values: readonly unknown[], key?: unknown): VNode {
  const known = templates.get(build);
  // Its fields are those that Preact's type of a node has.
  if (known) return new TemplateNode(known, values, key) as unknown as VNode;
  const node = build(values, key);
  // JSX of another library creates other objects.
  if (isNode(node) && typeof node.type === "string") {
    templates.set(build, { build, type: node.type, parts: undefined });
  }
  return node;
}

/** Returns whether a node is the root of a template. */
export function isTemplateNode(node: unknown): node is TemplateNode {
  return node instanceof TemplateNode;
}
