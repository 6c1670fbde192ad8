/**
 * Reports views that render other markup in the browser than on the server. In development only: the page data has the
 * HTML of each view, so changes of the page by the user or by extensions of the browser are no difference.
 */
import { Fragment, h, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { dropsLineFeed, type IslandData, keepLineFeed, selectedValues, withSelection } from "../../protocol/index.ts";
import { getPageData } from "../page-data.ts";
import { type MarkupSource, reportHydrationProblem, reportWarning } from "./report.ts";

/** A node with Preact's internal fields, under their minified names. */
interface NodeInternals extends VNode {
  /** The nodes that it rendered. Texts have no type, and their text as props. */
  readonly __k?: readonly (NodeInternals | null)[] | null;
  /** The number of an island and the next of its ids, in the root of an island (src/browser/islands.ts). */
  readonly __m?: readonly [island: number, id: number];
  readonly __source?: MarkupSource;
}

interface OptionsInternals {
  /** Called after a rendering, before the callbacks of its components. */
  __c?: (root: NodeInternals, ...rest: unknown[]) => void;
}

/** The page data in development. */
type CheckedIsland = IslandData & { readonly html?: string };

const hooks = options as OptionsInternals; // Preact's types omit them
const { __c: previousCommit } = hooks;

hooks.__c = (root, ...rest) => {
  const island = root.__k?.[0];
  // After a form without script, the server has filled in what was typed: views take it over later.
  if (island?.__m && !("form" in getPageData())) check(island, getPageData().views[island.__m[0] - 1]);
  previousCommit?.(root, ...rest);
};

const FIX = "Compute such a value in the page and pass it to the view as a prop, or set it in on_mount.";

/** The views that were reported. */
const reported = new Set<string>();

function check(island: NodeInternals, view: CheckedIsland | undefined): void {
  if (view?.html === undefined) return;
  const elements: NodeInternals[] = [];
  const html = renderToString(h(Fragment, null, elementsOf(island, elements)));
  const differences = findDifferences({ server: view.html, browser: html }, elements.map(toSource));
  for (const difference of differences) report(difference, view);
}

/**
 * Returns a copy of what a node rendered without its components, and adds the nodes of its elements to `list`.
 *
 * @param selected the values of the `<select>` around the node
 */
function elementsOf(
  node: NodeInternals | null,
  list: NodeInternals[],
  selected?: readonly string[],
): (VNode | string)[] {
  if (!node) return [];
  const { type, props } = node;
  if (type === null) return [String(props)]; // a text
  if (typeof type === "string") list.push(node);
  const values = type === "select" ? selectedValues(props) : selected;
  const children = (node.__k ?? []).flatMap((child) => elementsOf(child, list, values));
  if (typeof type !== "string") return children;
  const own = type === "option" && selected ? withSelection(props, selected) : props;
  const { children: _, dangerouslySetInnerHTML: html, ...attributes } = own as Record<string, unknown>;
  const marked = { ...attributes, ...(html ? { [OPAQUE]: "" } : {}) };
  return [h(type, dropsLineFeed(type) ? keepLineFeed(type, { ...marked, children }) : { ...marked, children })];
}

function toSource({ __source }: NodeInternals): MarkupSource | undefined {
  return __source?.fileName.includes("/node_modules/") ? undefined : __source;
}

function report({ kind, description, source }: Difference, { name }: IslandData): void {
  const message = `The view ${name} renders other markup in the browser than on the server. ${description}. ${FIX}`;
  const error = Object.assign(new Error(message), { source });
  if (kind === "attribute") {
    reportHydrationProblem(() => reportWarning(error));
  } else if (!reported.has(name)) {
    reported.add(name);
    reportHydrationProblem(() => reportError(error));
  }
}

/** A difference between the markup of the server and that of the browser. */
interface Difference {
  readonly kind: "attribute" | "content";
  /** A sentence without its full stop. */
  readonly description: string;
  /** The location of the element; absent for a text outside of all elements. */
  readonly source: MarkupSource | undefined;
}

/** The two versions of the markup, as HTML. An element that has HTML of the application is marked in the browser's. */
interface Versions {
  readonly server: string;
  readonly browser: string;
}

/** Marks an element whose HTML the application has written: it is not compared. */
const OPAQUE = "data-tsweb-opaque";

/**
 * Returns the first difference in content and the first one in attributes, in elements of the application. Those in elements
 * of packages are left out, because the application cannot correct them.
 *
 * @param sources the locations of the elements of the browser's version, in their order; `undefined` for those of packages
 */
function findDifferences(
  { server, browser }: Versions,
  sources: readonly (MarkupSource | undefined)[],
): readonly Difference[] {
  const [expected, rendered] = [parse(server), parse(browser)];
  const elements = [...rendered.querySelectorAll("*")];
  // The parser has repaired the markup of a package: its elements are not those of the list.
  if (elements.length !== sources.length) return [];
  const search = new Search(new Map(elements.map((element, index) => [element, sources[index]])));
  search.compareChildren(expected, rendered, []);
  return [search.content, search.attribute].filter((difference) => difference !== undefined);
}

/** Returns the nodes of HTML without comments, and with adjacent texts as one. */
function parse(html: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = html;
  const { content } = template;
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_COMMENT);
  const comments: Node[] = [];
  while (walker.nextNode()) comments.push(walker.currentNode);
  for (const comment of comments) comment.parentNode?.removeChild(comment);
  content.normalize();
  return content;
}

/** Two nodes at one place, and the element around them in the browser's version. */
interface Replaced {
  readonly one: Node | undefined;
  readonly other: Node | undefined;
  readonly parent: Node;
}

class Search {
  content: Difference | undefined;
  attribute: Difference | undefined;
  private readonly sources: ReadonlyMap<Node, MarkupSource | undefined>;

  constructor(sources: ReadonlyMap<Node, MarkupSource | undefined>) {
    this.sources = sources;
  }

  /** @param path the names of the elements around the two nodes, and that of the nodes */
  compareChildren(server: Node, browser: Node, path: readonly string[]): void {
    const [expected, rendered] = [server.childNodes, browser.childNodes];
    for (let index = 0; index < Math.max(expected.length, rendered.length) && !this.content; index++) {
      const [one, other] = [expected[index], rendered[index]];
      if (one instanceof Element && other instanceof Element && one.localName === other.localName) {
        this.compareElements(one, other, [...path, other.localName]);
      } else if (one?.nodeValue !== other?.nodeValue || one?.nodeName !== other?.nodeName) {
        this.addContent({ one, other, parent: browser }, path);
        return; // what follows is shifted
      }
    }
  }

  private compareElements(server: Element, browser: Element, path: readonly string[]): void {
    const isOpaque = browser.hasAttribute(OPAQUE);
    browser.removeAttribute(OPAQUE);
    if (!this.attribute) this.compareAttributes(server, browser, path);
    if (!isOpaque) this.compareChildren(server, browser, path);
  }

  private addContent(nodes: Replaced, path: readonly string[]): void {
    const { one, other, parent } = nodes;
    const owner = other instanceof Element ? other : parent;
    const source = this.sources.get(owner) ?? this.sources.get(parent);
    if (!source && owner instanceof Element) return;
    const place = path.length > 0 ? ` in ${path.join(" > ")}` : "";
    const description = `The server has rendered ${describe(one)}${place}, and the browser ${describe(other)}`;
    this.content = { kind: "content", description, source };
  }

  private compareAttributes(server: Element, browser: Element, path: readonly string[]): void {
    const source = this.sources.get(browser);
    if (!source) return;
    for (const name of new Set([...server.getAttributeNames(), ...browser.getAttributeNames()])) {
      const [one, other] = [server.getAttribute(name), browser.getAttribute(name)];
      if (one === other || isIgnored(browser, name)) continue;
      const description =
        `The server has rendered the attribute ${attribute(name, one)} of ${path.join(" > ")}, and the browser ` +
        attribute(name, other);
      this.attribute = { kind: "attribute", description, source };
      return;
    }
  }
}

/** The attributes that tsweb sets on the server, by element. */
const SET_BY_SERVER: Readonly<Record<string, readonly string[]>> = {
  form: ["action", "method", "enctype"],
  button: ["formaction", "formmethod", "formenctype"],
  input: ["formaction", "formmethod", "formenctype"],
};

/** The attributes whose values are ids, which packages often count: a view works with those of the server. */
const IDS =
  /^(?:id|for|list|form|headers|popovertarget|aria-(?:\w+by|controls|owns|flowto|details|activedescendant|errormessage))$/;

function isIgnored(element: Element, name: string): boolean {
  if (IDS.test(name) || SET_BY_SERVER[element.localName]?.includes(name)) return true;
  // The hidden fields of tsweb, and URLs that the server leaves out.
  return element.getAttribute("name")?.startsWith("__") || /^\W*javascript:/i.test(element.getAttribute(name) ?? "");
}

function attribute(name: string, value: string | null): string {
  return value === null ? `no ${name}` : `${name}=${shorten(value)}`;
}

function describe(node: Node | undefined): string {
  if (!node) return "nothing";
  return node instanceof Element ? `<${node.localName}>` : `the text ${shorten(node.nodeValue ?? "")}`;
}

/** Texts can be long. */
function shorten(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
