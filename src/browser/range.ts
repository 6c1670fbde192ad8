import type { ContainerNode } from "preact";

/** `Node.DOCUMENT_POSITION_PRECEDING`, as a number: it costs nothing. */
const PRECEDING = 2;

/**
 * Makes what stands between two comments a container to Preact, so that a view needs no element of
 * its own: it can be rows of a table, or nothing at all.
 *
 * Preact asks of a container what is here; it removes nodes by themselves. After a last node it
 * looks past comments for a place to insert: what would come to stand behind the end is put before it.
 */
export function rangeBetween(start: Node, end: ChildNode): ContainerNode {
  const childNodes: Node[] = [];
  for (let node = start.nextSibling; node && node !== end; node = node.nextSibling) childNodes.push(node);
  const range = {
    childNodes,
    firstChild: childNodes[0] ?? null,
    namespaceURI: (end.parentNode as Element).namespaceURI, // comments of a page stand in its body
    insertBefore(node: Node, place: ChildNode | null) {
      const isInside = place && end.compareDocumentPosition(place) & PRECEDING;
      (isInside ? place : end).before(node);
      return node;
    },
  };
  // Of the methods the type asks for, Preact calls none other than these on a container.
  return range as unknown as ContainerNode;
}
