/**
 * `tsweb/islands`: the page script. It brings the views of the page to life where they stand.
 */
import { type ComponentType, h, hydrate } from "preact";
import { keepFields } from "./fields.ts";
import { type IslandData, pageData } from "./page-data.ts";
import { rangeBetween } from "./range.ts";

/** `NodeFilter.SHOW_COMMENT`, as a number: it costs nothing. */
const COMMENTS = 128;

/** The comments around the islands, by their text. The mark in it is random: no other can pose as one. */
const comments = new Map<string, Comment>();
const walker = document.createTreeWalker(document, COMMENTS);
while (walker.nextNode()) {
  const comment = walker.currentNode as Comment; // it walks over nothing else
  comments.set(comment.data, comment);
}

pageData.views.forEach(async (view, index) => {
  try {
    // The address comes from the page's data alone, which the server wrote.
    const module = await import(/* @vite-ignore */ view.src);
    bringToLife(module[view.name], view, index);
  } catch (cause) {
    // One view that fails keeps no other from living.
    reportError(new Error(`The view ${view.name} could not be started`, { cause }));
  }
});

function bringToLife(component: ComponentType, { props }: IslandData, index: number): void {
  const start = comments.get(`${pageData.mark}:${index}`);
  const end = comments.get(`/${pageData.mark}:${index}`);
  if (!component || !start || !end) throw new Error("Its export or its place is missing");
  const range = rangeBetween(start, end);
  const nodes = Array.from(range.childNodes as ArrayLike<Node>); // of a document, they are its nodes
  const restore = keepFields(nodes);
  // Preact's own field, under its published name: the ids of `useId` begin with the number of the
  // island, as on the server; 0 is the page's own.
  const root = Object.assign(h(component, props), { __m: [index + 1, 0] });
  try {
    hydrate(root, range);
  } catch (error) {
    // Preact has removed what it had not come to: what the server rendered is better than nothing.
    end.before(...nodes);
    throw error;
  }
  restore();
}
