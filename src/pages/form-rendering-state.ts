import type { VNode } from "preact";
import { type FormTarget, type Submission, submissionOf } from "../forms/index.ts";
import { pathBelowBase, type RequestContext } from "../http/index.ts";
import { FORM_PARAMETER, type FormSubmission, type Signature } from "../protocol/index.ts";
import { issueCsrfToken } from "../session/index.ts";

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
export interface FormRenderingOptions {
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

  /** Returns the CSRF token of the page; `null` if CSRF tokens are not configured. All forms have the same one. */
  csrfToken(): string | null {
    if (this.#token === undefined) this.#token = issueCsrfToken(this.#context);
    return this.#token;
  }

  /**
   * Returns the address of a form: the path and query of the page, with the parameter that names the function and the
   * version that the page has of it.
   *
   * @param action the function of the form's `action`, if a button sends it to another function
   */
  addressOf({ name, hash }: Signature, action = name): string {
    this.#path ??= pathOf(this.#context, this.#base);
    const version = this.#build && hash ? `.${this.#build}.${hash}` : "";
    const form = action === name ? "" : `:${encodeURIComponent(action)}`;
    const value = `${encodeURIComponent(name)}${version}${form}`;
    return `${this.#path}${this.#path.includes("?") ? "&" : "?"}${FORM_PARAMETER}=${value}`;
  }

  /** Returns the submission for the page data, if a view contains its form: without what is on the server only. */
  submissionOfView(): FormSubmission | null {
    if (!this.submission || !this.isSubmissionInView) return null;
    const { texts: _, values, ...submission } = this.submission;
    const shown = Object.entries(values).filter(([name]) => !this.passwords.has(name));
    return { ...submission, values: Object.fromEntries(shown) };
  }
}

/** Outside the base and with a slash at the end, which the error page may have, no form is accepted. */
function pathOf({ url }: RequestContext, base: string): string {
  if (pathBelowBase(url.pathname, base) === null) return `${base}/`;
  return (url.pathname.replace(/\/+$/, "") || "/") + url.search;
}
