import { relative } from "node:path";
import type { ComponentChildren, VNode } from "preact";
import type { ViewSource } from "../protocol/index.ts";
import type { FormRendering } from "./form-rendering-state.ts";

/** An island: an outermost view of a page, which the browser hydrates. */
export interface Island {
  readonly source: ViewSource;
  /** The props, as JSON. */
  readonly props: string;
}

/** Attributes by their names in HTML. */
export type Attributes = Readonly<Record<string, string>>;

/** The attributes of one element of the document, as they were set during a rendering. */
export interface DocumentAttributes {
  /** What layouts have set, in order. */
  readonly layout: Attributes[];
  /** What the page has set. */
  readonly page: Attributes[];
}

/** The state of one rendering. Rendering is synchronous, so at most one is active. */
export interface RenderState {
  /** Whether to check for mistakes that only have a wrong appearance in production. */
  readonly development: boolean;
  /** Logs a mistake that does not end the rendering, in development. */
  readonly warn?: ((message: string) => void) | undefined;
  /** A random string in the comments around islands, new for every response: HTML in a page cannot imitate them. */
  readonly mark: string;
  readonly islands: Island[];
  /** The children of all `Head` elements, in order. */
  readonly head: ComponentChildren[];
  /** The attributes of the elements of the document, which `Html` and `Body` set. */
  readonly documentAttributes: { readonly html: DocumentAttributes; readonly body: DocumentAttributes };
  /** The number of views around the current node. */
  viewDepth: number;
  /** Whether the children of `Head` are being rendered, after the page itself. */
  readonly inHead: boolean;
  readonly forms: FormRendering;
  /** The own props of the elements that were rendered with other ones. They get them back after the rendering. */
  readonly replacedProps: Map<VNode, VNode["props"]>;
  /** The node of a template that the renderer is about to read as HTML. */
  shownTemplate?: { hideHtml(): void } | undefined;
  /** In development: the location of the element that is being rendered. */
  location?: ElementLocation | undefined;
}

/** The location of an element in the source, as JSX has it in development. Lines and columns start at 1. */
export interface ElementLocation {
  readonly fileName: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** Returns the location of an element, in development; `undefined` for one that was not written as JSX. */
export function locationOf(vnode: VNode): ElementLocation | undefined {
  return (vnode as { readonly __source?: ElementLocation }).__source; // set by JSX's development runtime, and not typed
}

/** Returns a location as text in parentheses, after a space; empty without one. The file is relative to the project's folder. */
export function describeLocation(location: ElementLocation | undefined): string {
  if (!location) return "";
  // The development server runs in the project's folder.
  const file = relative(process.cwd(), location.fileName).replaceAll("\\", "/");
  return ` (${file}:${location.lineNumber}:${location.columnNumber})`;
}

/**
 * Thrown when markup cannot be rendered. In development it has the location of the element. The stack does not have it,
 * because the renderer calls components after their elements were created.
 */
export class MarkupError extends TypeError {
  /** The location in Vite's format: columns start at 0. */
  declare readonly loc?: { readonly file: string; readonly line: number; readonly column: number };

  constructor(message: string, location = active?.location, options?: ErrorOptions) {
    super(message, options);
    if (location) {
      this.loc = { file: location.fileName, line: location.lineNumber, column: location.columnNumber - 1 };
    }
  }
}

// Lives as long as one synchronous rendering.
let active: RenderState | undefined;

/** Makes a rendering the active one. Returns the one that was active before. */
export function setActiveRender(state: RenderState | undefined): RenderState | undefined {
  const previous = active;
  active = state;
  return previous;
}

/** Returns the active rendering, or `undefined` outside a page, for example in a test that renders a view. */
export function getActiveRender(): RenderState | undefined {
  return active;
}
