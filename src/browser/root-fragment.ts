import type { ContainerNode } from "preact";

/**
 * Returns a container for Preact that consists of the nodes between two comments. So a view needs no element around
 * it: it can be rows of a table, or empty.
 *
 * Preact uses the members below of a container, and removes nodes by `node.remove()`. To insert after the last node,
 * it looks for the next sibling and skips comments: a reference node behind `end` is replaced by `end`.
 */
export function createRootFragment(start: Node, end: ChildNode): ContainerNode {
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
