/**
 * A place for Preact to render text into, where there is no browser: enough of a document to see
 * what a component shows and how often it rendered.
 */
import { type ComponentType, type ContainerNode, h, render } from "preact";

class TextNode {
  readonly nodeType = 3;
  parentNode: TextRoot | null = null;
  data: string;

  constructor(data: string) {
    this.data = data;
  }

  get nextSibling(): TextNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  remove(): void {
    const siblings = this.parentNode?.childNodes ?? [];
    siblings.splice(siblings.indexOf(this), 1);
    this.parentNode = null;
  }
}

/** The root itself: what Preact asks of a container. */
export class TextRoot {
  readonly nodeType = 1;
  readonly namespaceURI = "http://www.w3.org/1999/xhtml";
  readonly childNodes: TextNode[] = [];
  readonly ownerDocument = { createTextNode: (data: unknown) => new TextNode(String(data)) };

  get firstChild(): TextNode | null {
    return this.childNodes[0] ?? null;
  }

  insertBefore(node: TextNode, place: TextNode | null): void {
    node.parentNode?.childNodes.splice(node.parentNode.childNodes.indexOf(node), 1);
    const at = place ? this.childNodes.indexOf(place) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
  }

  /** What a visitor would read. */
  get text(): string {
    return this.childNodes.map((node) => node.data).join("");
  }

  /** Renders a component into it, or nothing in place of what is there. */
  show(component: ComponentType | null): void {
    // It has what Preact calls on a container, which is less than the type asks for.
    render(component && h(component, {}), this as unknown as ContainerNode);
  }
}

/** Resolves once Preact has rendered what was changed before. */
export async function rendered(): Promise<void> {
  await Promise.resolve();
  await Promise.resolve();
}
