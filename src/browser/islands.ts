/**
 * The entry point `tsweb/islands`: the page script, which hydrates the views of the page.
 */
import { type ComponentType, type ContainerNode, h, hydrate } from "preact";
import { HYDRATION_PROBLEM_EVENT, type IslandData, islandComment } from "../protocol/index.ts";
import { captureFields } from "./fields.ts";
import { getPageData } from "./page-data.ts";
import { checkSignIn, reloadOnce } from "./reload.ts";

/**
 * All comments of the page, by their text. The text of an island's comments is random: others cannot imitate it. The script of a
 * part that arrives later (`LATER_SCRIPT` in src/pages/later-scripts.ts) adds those of the part, and starts its views.
 */
export const comments: Record<string, Comment | undefined> = {};
const walker = document.createTreeWalker(document, 128 /* NodeFilter.SHOW_COMMENT */);
while (walker.nextNode()) {
  const comment = walker.currentNode as Comment; // the walker visits comments only
  comments[comment.data] = comment;
}

/** Loads a view and hydrates it at its number in the page. Never rejects. */
export async function startView(view: IslandData, index: number): Promise<void> {
  // Bundlers remove this from production. The check of the hydration finds views, also those of parts, by their numbers.
  if (process.env.NODE_ENV !== "production") Object.assign(getPageData().views, { [index]: view });
  try {
    // Bundlers remove this from production.
    if (process.env.NODE_ENV !== "production") await import("./dev/development.ts");
    // The URL comes from the page data, which only the server writes.
    const module = await import(/* @vite-ignore */ view.src).catch(handleMissingScript);
    hydrateIsland(module[view.name], view, index);
  } catch (cause) {
    const report = () => reportError(new Error(`Cannot start view ${view.name}`, { cause }));
    // Bundlers remove this from production. The page may be older than an edited view: then the development server reloads it.
    if (process.env.NODE_ENV !== "production") {
      if (!dispatchEvent(new CustomEvent(HYDRATION_PROBLEM_EVENT, { detail: report, cancelable: true }))) return;
    }
    report(); // the other views are still hydrated
  }
}

getPageData().views.forEach(startView);

// Vite dispatches this event when a dynamic import of the application fails.
addEventListener("vite:preloadError", (event) => handleMissingScript((event as Event & { payload: unknown }).payload));

addEventListener("pageshow", checkSignIn);

/**
 * Returns a container for Preact that consists of the nodes between two comments. So a view needs no element around
 * it: it can be rows of a table, or empty.
 *
 * Preact uses the members below of a container, and removes nodes by `node.remove()`. To insert after the last node,
 * it looks for the next sibling and skips comments: a reference node behind `end` is replaced by `end`.
 */
function createRootFragment(start: Node, end: ChildNode): ContainerNode {
  const childNodes: Node[] = [];
  // `nextSibling` of a form may be a field of that name.
  const walker = document.createTreeWalker(document);
  walker.currentNode = start;
  while (walker.nextSibling() && walker.currentNode !== end) childNodes.push(walker.currentNode);
  const fragment = {
    childNodes,
    firstChild: childNodes[0],
    namespaceURI: (end.parentNode as Element).namespaceURI, // the comments are in the body
    insertBefore(node: Node, reference: ChildNode | null) {
      // Node.DOCUMENT_POSITION_PRECEDING
      const position = reference && end.compareDocumentPosition(reference) & 2 ? reference : end;
      // `before` of a form, and `insertBefore` of one around the view, may be fields of these names.
      return Node.prototype.insertBefore.call(end.parentNode, node, position);
    },
  };
  // Preact calls no other method of the type on a container.
  return fragment as unknown as ContainerNode;
}

function hydrateIsland(component: ComponentType, { props }: IslandData, index: number): void {
  const text = islandComment(getPageData().mark, index);
  const start = comments[text];
  const end = comments[`/${text}`];
  if (!component || !start || !end) throw new Error("Not found"); // its export, or its comments
  const root = createRootFragment(start, end);
  const nodes = root.childNodes as unknown as readonly Node[]; // createRootFragment sets this array, and nothing changes it
  const restore = captureFields(nodes);
  // Preact's internal field for the ids of `useId`: they start with the number of the island, as on the server
  // (`numberIds` in src/pages/view.ts). 0 is the page outside islands.
  const vnode = Object.assign(h(component, props), { __m: [index + 1, 0] });
  try {
    hydrate(vnode, root);
  } catch (error) {
    // Preact has removed some nodes: show what the server rendered.
    end.before(...nodes);
    throw error;
  }
  restore();
}

/** Reloads the page, whose build may have been replaced: then the page of the next build names scripts that exist. */
function handleMissingScript(error: unknown): never {
  // Bundlers remove this from development, where the error is shown.
  if (process.env.NODE_ENV === "production") reloadOnce(error);
  throw error;
}
