import { relative } from "node:path";
import { type ComponentChildren, createContext, type VNode } from "preact";
import { type FormTarget, type Submission, submissionOf } from "../forms/index.ts";
import { pathBelowBase, type RequestContext, randomHex } from "../http/index.ts";
import { FORM_PARAMETER, type FormSubmission, type Markup, type ViewSource } from "../protocol/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";
import { issueCsrfToken } from "../session/index.ts";

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

/** A part of a page that follows its document: what a `Later` has recorded. */
export interface Part {
  /** Its number in the page. */
  readonly index: number;
  /** The name of its place in the document. */
  readonly name: string;
  readonly run: () => Markup | Promise<Markup>;
  /** The values of Preact's contexts around it. */
  readonly context: object;
  /** In development: where the `Later` is. */
  readonly location: ElementLocation | undefined;
  /** The form around it; `null` outside a form of a server function. */
  readonly form: OpenForm | null;
  /** The `<select>` around it, if it selects its options itself. */
  readonly select: OpenSelect | null;
  /** The names of the elements around it, the innermost first. */
  readonly around: readonly string[];
}

/** The parts of a page. */
export interface Parts {
  /**
   * Whether they are sent after the document, to a browser. Otherwise they are rendered in their places. `null` before the first part:
   * few pages have one, and parsing the URL takes longer than the rest of the decision.
   */
  isStreamed: boolean | null;
  /** In the order of rendering. A part may contain further ones, which come last. */
  readonly list: Part[];
  /** The part that is being rendered; `null` while it is the document. */
  rendered: Part | null;
}

/** What {@link InsideFallback} provides: an object, by which its node can be recognized. */
export const FALLBACK = {};

/** {@link FALLBACK} in the fallback of a `Later`, which its part replaces; `null` elsewhere. */
export const InsideFallback = createContext<object | null>(null);

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
  readonly parts: Parts;
  /** The own props of the elements that were rendered with other ones. They get them back after the rendering. */
  readonly replacedProps: Map<VNode, VNode["props"]>;
  /** The node of a template that the renderer is about to read as HTML. */
  shownTemplate?: { hideHtml(): void } | undefined;
  /** In development: the location of the element that is being rendered. */
  location?: ElementLocation | undefined;
}

/** A node with the fields that Preact's types omit: its parent, under its minified name, and its location in development. */
export type LinkedNode<P = object> = VNode<P> & {
  readonly __?: LinkedNode<P> | null;
  readonly __source?: ElementLocation;
};

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

/** What a field sends: a file, a text, or what an element of another name sends, which is not known. */
export type FieldKind = "file" | "text" | "unknown";

/** What a radio button or an option sends. */
export interface Choice {
  readonly value: string;
  readonly type: "radio" | "option";
  /** Whether the element has an attribute `value`. */
  readonly hasValue: boolean;
}

/** The values that the radio buttons and options of a form send, by the name of their field. */
export type FormChoices = Map<string, Choice[]>;

/** A form whose children are being rendered. */
export interface OpenForm {
  readonly vnode: VNode;
  readonly target: FormTarget;
  /** The submission, if it was sent by this form. */
  readonly submission: Submission | null;
  /** How many texts of each field were filled in, by its name: fields of one name are filled in by their order. */
  readonly filled: Map<string, number>;
  /** Whether a refused field has the focus. */
  hasFocus: boolean;
  /** In development: the kinds of its fields, by their name. */
  readonly fields: Map<string, FieldKind[]>;
  /** In development: its fields without a name, which send nothing. */
  readonly unnamed: VNode[];
  /** In development: what its radio buttons and options send. */
  readonly choices: FormChoices;
  /** Whether a part of the page is in it, with fields that are rendered later. */
  hasParts?: boolean;
  /** In development: the `<select>` whose options are being rendered. */
  select: { readonly vnode: VNode; readonly name: string } | null;
}

/** A `<select>` whose options are being rendered. */
export interface OpenSelect {
  readonly vnode: VNode;
  /** The values of the options that are selected. */
  readonly values: readonly string[];
  /** Whether the user has selected them in a form that was refused: in place of what its options say themselves. */
  readonly isTyped: boolean;
}

/** The options of {@link FormRendering}. */
interface FormRenderingOptions {
  /** The application's base. */
  readonly base: string;
  /** The id of the build; absent in development. */
  readonly build?: string | undefined;
  readonly sendsOrigin: boolean;
}

/** The forms of one rendering. */
export class FormRendering {
  /** The form around the element that is being rendered; `null` outside a form of a server function. */
  open: OpenForm | null = null;
  /** The `<select>` whose options are being rendered, if it selects them itself. */
  select: OpenSelect | null = null;
  /** The form that was sent without script to get this page. */
  readonly submission: Submission | null;
  /** The forms that were rendered: the function and the key of each. */
  readonly rendered = new Set<string>();
  /** The names of the fields of the submission's form that are passwords. */
  readonly passwords = new Set<string>();
  /** Whether browsers send the origin of the page with its forms. */
  readonly sendsOrigin: boolean;
  /** Whether a view contains the form that was sent. */
  isSubmissionInView = false;
  readonly #context: RequestContext;
  readonly #base: string;
  readonly #build: string | undefined;
  #token: string | null | undefined;
  #path: string | undefined;

  constructor(context: RequestContext, { base, build, sendsOrigin }: FormRenderingOptions) {
    this.#context = context;
    this.#base = base;
    this.#build = build;
    this.sendsOrigin = sendsOrigin;
    this.submission = submissionOf(context);
  }

  /**
   * Returns the CSRF token of a form of the page.
   *
   * @throws Error if the page is rendered for all clients and CSRF tokens are configured
   */
  formToken(): string | null {
    if (this.#context.shared) this.#context.shared.hasForm = true;
    if (this.#context.config.csrfSecret) this.#context.useClient("a form with a CSRF token");
    return this.csrfToken();
  }

  /**
   * Returns the CSRF token of the page; `null` if CSRF tokens are not configured, and in a page for all clients, whose first call
   * gets one. All forms have the same one.
   */
  csrfToken(): string | null {
    if (this.#context.shared) return null;
    if (this.#token === undefined) this.#token = issueCsrfToken(this.#context);
    return this.#token;
  }

  /**
   * Returns the address of a form: the path and query of the page, with the parameter that names the function and the
   * version that the page has of it. That of an idempotent function has a new key.
   *
   * @param action the function of the form's `action`, if a button sends it to another function
   */
  addressOf({ signature: { name, hash }, options }: FunctionDefinition, action = name): string {
    if (options.idempotent) this.#context.useClient("a form of an idempotent function");
    this.#path ??= pathOf(this.#context, this.#base);
    const version = this.#build && hash ? `.${this.#build}.${hash}` : "";
    const form = action === name ? "" : `:${encodeURIComponent(action)}`;
    const once = options.idempotent ? `~${randomHex(16)}` : "";
    const value = `${encodeURIComponent(name)}${version}${form}${once}`;
    return `${this.#path}${this.#path.includes("?") ? "&" : "?"}${FORM_PARAMETER}=${value}`;
  }

  /** Returns the submission for the page data, if a view contains its form: without what is on the server only. */
  submissionOfView(): FormSubmission | null {
    if (!this.submission || !this.isSubmissionInView) return null;
    const { texts: _, isHandled: __, isShown: ___, values, ...submission } = this.submission;
    const shown = Object.entries(values).filter(([name]) => !this.passwords.has(name));
    return { ...submission, values: Object.fromEntries(shown) };
  }
}

/** Outside the base and with a slash at the end, which the error page may have, no form is accepted. */
function pathOf({ url }: RequestContext, base: string): string {
  if (pathBelowBase(url.pathname, base) === null) return `${base}/`;
  return (url.pathname.replace(/\/+$/, "") || "/") + url.search;
}
