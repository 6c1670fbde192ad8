/**
 * A container for Preact without a browser. It implements only the part of the DOM that components with text need.
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

/** The container, with the members that Preact uses. */
export class TextRoot {
  readonly nodeType = 1;
  readonly namespaceURI = "http://www.w3.org/1999/xhtml";
  readonly childNodes: TextNode[] = [];
  readonly ownerDocument = { createTextNode: (data: unknown) => new TextNode(String(data)) };

  get firstChild(): TextNode | null {
    return this.childNodes[0] ?? null;
  }

  insertBefore(node: TextNode, reference: TextNode | null): void {
    node.parentNode?.childNodes.splice(node.parentNode.childNodes.indexOf(node), 1);
    const at = reference ? this.childNodes.indexOf(reference) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
  }

  /** The rendered text. */
  get text(): string {
    return this.childNodes.map((node) => node.data).join("");
  }

  /** Renders a component, or removes the one that is rendered. */
  renderComponent(component: ComponentType | null): void {
    // Preact uses fewer members than the type requires.
    render(component && h(component, {}), this as unknown as ContainerNode);
  }
}

/** Resolves after Preact has rendered earlier changes. */
export async function nextRender(): Promise<void> {
  await Promise.resolve();
  await Promise.resolve();
}
