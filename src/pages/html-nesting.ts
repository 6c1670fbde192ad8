/**
 * Which elements the HTML parser of a browser does not put where the markup has them. The parser ends elements, ignores
 * them, moves them or inserts others: then the page differs from the markup, and a view fails to hydrate.
 *
 * The rules are those of the HTML standard for start tags. What depends on the version of the browser (the contents of
 * `<select>`) or on scripting (`<noscript>`) has no rule, and no element in a `<template>` has one.
 *
 * @see https://html.spec.whatwg.org/multipage/parsing.html#tree-construction
 */
import { Fragment, type VNode } from "preact";
import { FALLBACK, type LinkedNode, MarkupError, type RenderState } from "./render-state.ts";

/** Why an element cannot be where it is. */
export interface NestingProblem {
  /** The index of the other element in the ancestors. */
  readonly ancestor: number;
  /** What browsers do, as a clause whose subject is the browser. */
  readonly effect: string;
  readonly fix: string;
  /** Whether browsers only insert the elements that HTML requires between the two. */
  readonly isInsertion?: true;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** The elements that end an open `<p>`. */
const ENDS_PARAGRAPH = set(
  "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 " +
    "h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp",
);
/** The elements at which the search for an open element ends. */
const SCOPE = set("applet caption html table td th marquee object template");
/** The elements whose contents have links of their own. */
const FORMATTING_MARKERS = set("applet caption marquee object td template th");
/** The elements that an `<li>`, `<dt>` or `<dd>` does not end; of these, `<address>`, `<div>` and `<p>` do not count. */
const SPECIAL = set(
  "applet area article aside base basefont bgsound blockquote body br button caption center col colgroup dd details dir " +
    "dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html " +
    "iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript object ol param " +
    "plaintext pre script search section select source style summary table tbody td template textarea tfoot th thead " +
    "title tr track ul wbr xmp",
);
const HEADINGS = set("h1 h2 h3 h4 h5 h6");
const VOID = set("area base br col embed hr img input link meta param source track wbr");
/** The elements whose contents are text. */
const RAW_TEXT = set("iframe noembed noframes script style textarea title xmp");
const DOCUMENT_PARTS = set("body frame frameset head html");
/** The elements of HTML that end an SVG image or a formula around them. */
const ENDS_FOREIGN = set(
  "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr " +
    "ol p pre ruby s small span strike strong sub sup table tt u ul var",
);
/** The elements of SVG and MathML whose contents are HTML. */
const CONTAINS_HTML: Readonly<Record<string, ReadonlySet<string>>> = {
  svg: set("foreignobject desc title"),
  math: set("mi mo mn ms mtext"),
};

/** The parents of the parts of a table. */
const TABLE_PARENTS: Readonly<Record<string, string>> = {
  caption: "table",
  colgroup: "table",
  thead: "table",
  tbody: "table",
  tfoot: "table",
  col: "colgroup",
  tr: "tbody",
  td: "tr",
  th: "tr",
};
/** What browsers insert between a part of a table and its parent. */
const INSERTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  table: { tr: "tbody", td: "tbody><tr", th: "tbody><tr", col: "colgroup" },
  thead: { td: "tr", th: "tr" },
  tbody: { td: "tr", th: "tr" },
  tfoot: { td: "tr", th: "tr" },
};
const ROW_GROUPS = set("tbody thead tfoot");
/** The parts of a table that contain only its other parts. */
const TABLE_STRUCTURE = set("table tbody thead tfoot tr colgroup");

/** An element around the one that is checked. */
interface OpenElement {
  readonly name: string;
  /** Whether it is one of SVG or MathML. */
  readonly isForeign: boolean;
  /** Whether it is one of SVG or MathML whose contents are HTML. */
  readonly containsHtml: boolean;
}

/**
 * Returns why an element cannot be inside its ancestors; `undefined` if it can.
 *
 * @param element the name of the element, and whether it is an `<input type="hidden">`
 * @param ancestors the names of the elements around it, the innermost first, below `<body>`
 */
export function nestingProblem(
  { name, isHidden = false }: { readonly name: string; readonly isHidden?: boolean },
  ancestors: readonly string[],
): NestingProblem | undefined {
  const tag = name.toLowerCase();
  const open = openElements(ancestors);
  if (!open) return undefined;
  const parent = open[0];
  if (parent?.isForeign && !parent.containsHtml) {
    return ENDS_FOREIGN.has(tag)
      ? problem(
          open.findIndex(({ name: other }) => other === "svg" || other === "math"),
          "end the image before it",
          `Put the <${tag}> into a <foreignObject>, or after the image.`,
        )
      : undefined;
  }
  return contentProblem(tag, parent) ?? tableProblem(tag, parent, isHidden) ?? ancestorProblem(tag, open);
}

/** Returns why text cannot be inside an element; `undefined` if it can. */
export function textProblem(ancestors: readonly string[]): NestingProblem | undefined {
  const parent = openElements(ancestors)?.[0];
  if (!parent || parent.isForeign) return undefined;
  if (VOID.has(parent.name)) return contentProblem("", parent);
  return TABLE_STRUCTURE.has(parent.name) ? MOVED : undefined;
}

/**
 * Returns why a part of a page cannot be inside an element; `undefined` if it can. Browsers parse a part as HTML, apart from its
 * place, and find no place in text, in a template and, while scripts run, in `<noscript>`.
 *
 * @param ancestors as in {@link nestingProblem}
 */
export function partPlaceProblem(ancestors: readonly string[]): string | undefined {
  const opaque = ancestors.find((name) => name === "template" || name === "noscript");
  const [parent] = openElements(ancestors) ?? [];
  const element = opaque ?? parent?.name;
  if (opaque || (parent && !parent.isForeign && RAW_TEXT.has(parent.name)))
    return `<Later> is used inside <${element}>, where browsers cannot insert a part. Put the whole <${element}> into the part.`;
  if (!parent?.isForeign || parent.containsHtml) return undefined;
  const root = ancestors.find((name) => name in CONTAINS_HTML);
  return `<Later> is used inside <${root}>, where browsers would insert elements of HTML, which are not drawn. Put the whole <${root}> into the part.`;
}

const MOVED = problem(0, "move it in front of the table", "Put it into a <td>, a <th> or the <caption>.");

function problem(ancestor: number, effect: string, fix: string): NestingProblem {
  return { ancestor, effect, fix };
}

/** Returns the elements around an element, the innermost first; `undefined` if there are no rules for their contents. */
function openElements(ancestors: readonly string[]): OpenElement[] | undefined {
  const open: OpenElement[] = [];
  let language: string | undefined; // of the element's contents; `undefined` for HTML
  for (const ancestor of ancestors.toReversed()) {
    const name = ancestor.toLowerCase();
    if (language === undefined && ["select", "template", "noscript"].includes(name)) return undefined;
    if (name === "annotation-xml") return undefined; // an attribute decides about its contents
    const isRoot = language === undefined && name in CONTAINS_HTML;
    const isForeign = language !== undefined || isRoot;
    const containsHtml = language !== undefined && CONTAINS_HTML[language]?.has(name) === true;
    open.unshift({ name, isForeign, containsHtml });
    if (isRoot) language = name;
    else if (containsHtml) language = undefined;
  }
  return open;
}

function contentProblem(tag: string, parent: OpenElement | undefined): NestingProblem | undefined {
  if (DOCUMENT_PARTS.has(tag)) {
    const fix =
      "tsweb writes <html>, <head> and <body>: render their contents. Use <Head> for those of <head>, and <Html … /> and " +
      "<Body … /> for attributes.";
    return problem(0, "ignore it", fix);
  }
  if (!parent || parent.isForeign) return undefined;
  if (VOID.has(parent.name))
    return problem(0, `put it after the <${parent.name}>`, `The element <${parent.name}> has no content.`);
  if (!RAW_TEXT.has(parent.name)) return undefined;
  return problem(0, "treat it as text", `The element <${parent.name}> contains only text.`);
}

function tableProblem(tag: string, parent: OpenElement | undefined, isHidden: boolean): NestingProblem | undefined {
  const structure = parent && !parent.isForeign && TABLE_STRUCTURE.has(parent.name) ? parent.name : undefined;
  const expected = TABLE_PARENTS[tag];
  if (structure !== undefined) {
    if (expected === structure || (expected === "tbody" && ROW_GROUPS.has(structure))) return undefined;
    const inserted = INSERTED[structure]?.[tag];
    if (inserted !== undefined) return insertion(tag, structure, inserted);
    if (tag === "template") return undefined;
    if (structure !== "colgroup" && (tag === "script" || tag === "style" || isHidden)) return undefined;
  }
  if (expected !== undefined) {
    return problem(
      0,
      structure ? `end the <${structure}> before it` : "ignore it",
      `Put the <${tag}> into a <${expected}>.`,
    );
  }
  return structure === undefined ? undefined : MOVED;
}

function insertion(tag: string, structure: string, inserted: string): NestingProblem {
  const fix = `Write <${structure}><${inserted}><${tag}>.`;
  return { ...problem(0, `insert <${inserted}> between the two`, fix), isInsertion: true };
}

/** Checks for an ancestor that the element ends, or that does not allow a second element of its kind. */
function ancestorProblem(tag: string, open: readonly OpenElement[]): NestingProblem | undefined {
  const ends = (ancestor: number, fix: string) =>
    ancestor < 0 ? undefined : problem(ancestor, `end the <${open[ancestor]?.name}> before it`, fix);
  if (tag === "form") {
    const outer = indexOf(open, "form");
    const fix =
      "Put the two next to each other. A button with formAction sends its form to another function, and a field with " +
      'form="id" belongs to a form elsewhere.';
    if (outer >= 0) return problem(outer, "ignore the inner form", fix);
  }
  const own = ownKindProblem(tag, open, ends);
  if (own) return own;
  if (!ENDS_PARAGRAPH.has(tag)) return undefined;
  return ends(
    indexOf(open, "p", (other) => other.name === "button" || isScope(other)),
    tag === "p" ? "Put the two next to each other." : `Use <div> in place of <p>, or put the <${tag}> after it.`,
  );
}

type Ends = (ancestor: number, fix: string) => NestingProblem | undefined;

function ownKindProblem(tag: string, open: readonly OpenElement[], ends: Ends): NestingProblem | undefined {
  const siblings = "Put the two next to each other.";
  switch (tag) {
    case "a":
      return ends(indexOf(open, tag, isMarker), siblings);
    case "button":
    case "nobr":
      return ends(indexOf(open, tag, isScope), siblings);
    case "li":
      return ends(itemIndex(open, ["li"]), "Put the inner <li> into a list of its own, <ul> or <ol>.");
    case "dt":
    case "dd":
      return ends(itemIndex(open, ["dt", "dd"]), siblings);
    default:
      return HEADINGS.has(tag) && isHeading(open[0]) ? ends(0, siblings) : undefined;
  }
}

function isHeading(parent: OpenElement | undefined): boolean {
  return parent !== undefined && !parent.isForeign && HEADINGS.has(parent.name);
}

/** Returns the index of an open element of HTML that no limit separates from the new one; otherwise -1. */
function indexOf(open: readonly OpenElement[], name: string, isLimit?: (other: OpenElement) => boolean): number {
  for (const [index, other] of open.entries()) {
    if (!other.isForeign && other.name === name) return index;
    if (isLimit?.(other)) return -1;
  }
  return -1;
}

function itemIndex(open: readonly OpenElement[], names: readonly string[]): number {
  for (const [index, { name, isForeign, containsHtml }] of open.entries()) {
    if (containsHtml) return -1;
    if (isForeign) continue;
    if (names.includes(name)) return index;
    if (SPECIAL.has(name)) return -1; // without address, div and p, which are special otherwise
  }
  return -1;
}

function isScope({ name, isForeign, containsHtml }: OpenElement): boolean {
  return isForeign ? containsHtml : SCOPE.has(name);
}

function isMarker({ name, isForeign }: OpenElement): boolean {
  return !isForeign && FORMATTING_MARKERS.has(name);
}

/** An element around a node. One around a part has no location. */
type SurroundingElement = Pick<LinkedNode, "type" | "__source">;

/**
 * Checks that browsers put an element where its markup has it. In development only.
 *
 * HTML of `dangerouslySetInnerHTML` is not checked. Elements that browsers insert into a table are a mistake in a view, a part and
 * its fallback only: elsewhere they change nothing.
 *
 * @throws MarkupError for an element of the application. That of a package is logged, because the application cannot
 *   correct it
 */
export function checkNesting(vnode: VNode, type: string, state: RenderState): void {
  if (state.inHead) return;
  const nodes = elementsAround(vnode, state);
  const names = nodes.map((node) => String(node.type));
  const { type: inputType } = vnode.props as { readonly type?: unknown };
  const isHidden = type === "input" && String(inputType).toLowerCase() === "hidden";
  report(nestingProblem({ name: type, isHidden }, names), { vnode, subject: `<${type}>`, nodes, state });
  if (hasText(vnode))
    report(textProblem([type, ...names]), { vnode, subject: "Text", nodes: [vnode, ...nodes], state });
}

/** Where a problem is. */
interface ProblemLocation {
  readonly vnode: LinkedNode;
  readonly subject: string;
  /** The elements around the subject, the innermost first. */
  readonly nodes: readonly SurroundingElement[];
  readonly state: RenderState;
}

function report(problem: NestingProblem | undefined, { vnode, subject, nodes, state }: ProblemLocation): void {
  if (!problem || (problem.isInsertion && state.viewDepth === 0 && !state.parts.rendered && !isInFallback(vnode)))
    return;
  const outer = nodes[problem.ancestor];
  const name = componentAround(vnode);
  const message =
    `${subject} cannot be inside <${String(outer?.type ?? "body")}>${name && ` (${name})`}: browsers ${problem.effect}, so ` +
    `the page differs from the markup${state.viewDepth > 0 ? ", and the view cannot be hydrated" : ""}. ${problem.fix}`;
  const source = vnode.__source ?? outer?.__source;
  if (source) throw new MarkupError(message, source);
  state.warn?.(message);
}

/** Returns the elements around a node, the innermost first, and those around the part that it is in. */
function elementsAround(vnode: LinkedNode, { parts }: RenderState): SurroundingElement[] {
  const nodes: SurroundingElement[] = [];
  for (let node = vnode.__; node; node = node.__) if (typeof node.type === "string") nodes.push(node);
  return parts.rendered ? [...nodes, ...parts.rendered.around.map((type) => ({ type }))] : nodes;
}

function isInFallback(vnode: LinkedNode): boolean {
  for (let node = vnode.__; node; node = node.__)
    if ((node.props as { readonly value?: unknown } | null)?.value === FALLBACK) return true;
  return false;
}

/** Returns the name of the innermost component or view around a node; empty without one. Those of Preact are left out. */
function componentAround(vnode: LinkedNode): string {
  for (let node = vnode.__; node; node = node.__) {
    const name = typeof node.type === "function" && node.type !== Fragment ? (node.type.displayName ?? "") : "";
    if (/^\p{Lu}/u.test(name)) return name;
  }
  return "";
}

function hasText({ props }: VNode): boolean {
  if ("dangerouslySetInnerHTML" in props) return false;
  const children: readonly unknown[] = [props.children].flat(Infinity);
  return children.some((child) => (typeof child === "string" ? /[^ \t\n\f\r]/.test(child) : typeof child === "number"));
}
