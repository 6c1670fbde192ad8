/**
 * Reports views that render other markup in the browser than on the server. In development only: the page data has the
 * HTML of each view, so changes of the page by the user or by extensions of the browser are no difference.
 */
import { Fragment, h, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { dropsLineFeed, type IslandData, keepLineFeed, selectedValues, withSelection } from "../../protocol/index.ts";
import { type Difference, findDifferences, OPAQUE } from "../dev-markup-differences.ts";
import { type MarkupSource, reportHydrationProblem, reportWarning } from "./report.ts";
import { getPageData } from "../page-data.ts";

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
  const values = type === "select" ? selectedValues(props as Record<string, unknown>) : selected;
  const children = (node.__k ?? []).flatMap((child) => elementsOf(child, list, values));
  if (typeof type !== "string") return children;
  const own = type === "option" && selected ? withSelection(props as Record<string, unknown>, selected) : props;
  const { children: _, dangerouslySetInnerHTML: html, ...attributes } = own as Record<string, unknown>;
  const marked = { ...attributes, ...(html ? { [OPAQUE]: "" } : {}) };
  return [
    h(type, dropsLineFeed(type) ? keepLineFeed(type, { ...marked, children }) : { ...marked, children }) as VNode,
  ];
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
