import { type Component, h, type VNode } from "preact";
import type { RPCError } from "../errors.ts";
import {
  errorFromJson,
  type FieldErrors,
  type FieldName,
  type FieldValues,
  type FormFunction,
  type FormSubmission,
  isSubmissionOf,
  type ViewFormHandle,
  type ViewFormOptions,
} from "../protocol/index.ts";
import { getPageData } from "./page-data.ts";
import { slot } from "./slot.ts";

/** A server function with what its stub adds: its name, and in builds the hash of its signature. */
export type FormAction = FormFunction & { readonly id: string; readonly hash?: string };

/** What the application sees of the state of a form. */
interface ShownState {
  values: FieldValues;
  error: RPCError | undefined;
  errors: FieldErrors;
  result: unknown;
  pending: boolean;
  /** The elements that summarise the errors, in a form without a handle. */
  summary: VNode | VNode[] | undefined;
}

/** The state of one form in the page. It is also the handle that {@link form} returns. */
export interface FormState extends ShownState, Omit<ViewFormHandle, keyof ShownState> {
  /** The state before the form is sent, and after a reset. */
  readonly initial: ShownState;
  /** The part of the form that has been sent, from 0 to 1. */
  sent: number;
  /** Whether the application shows the progress, which `fetch` does not report. */
  readsProgress?: boolean;
  /** Whether the application shows the errors; otherwise the form has a summary. */
  readonly isHandle: boolean;
  /** The form element, after the first rendering. */
  element?: HTMLFormElement;
  fn: FormAction;
  key: string;
  /** The option of the application. */
  done?: ViewFormOptions["done"];
  /** Resets state and fields. It is set when the form is rendered. */
  onReset?: () => void;
  /**
   * The key of the last submission, if it has had no response of the application, or a redirect: if it is sent again with the same
   * fields, an idempotent function runs once. Absent until the form is sent.
   */
  once?: string | undefined;
  /** Ends the request, while the form is being sent. */
  sending?: AbortController;
  /** In development: the stack of the component that has created it. */
  createdAt?: string | undefined;
  /** Changes the state and renders its component, then calls `afterRendering`. */
  update(changes: Partial<FormState>, afterRendering?: () => void): void;
}

/** The state of a form before it is sent, and after a reset. */
const INITIAL: ShownState = {
  values: {},
  error: undefined,
  errors: {},
  result: undefined,
  pending: false,
  summary: undefined,
};

/** Returns the state of a form, for a component. */
export function createForm(component: Component, fn: FormAction, key = "", isHandle = false): FormState {
  const state: FormState = {
    ...INITIAL,
    ...takeSubmission(fn.id, key, isHandle),
    initial: INITIAL,
    sent: 0,
    isHandle,
    fn,
    key,
    get progress() {
      state.readsProgress = true;
      return state.sent;
    },
    update(changes, afterRendering) {
      Object.assign(state, changes);
      component.forceUpdate(afterRendering);
    },
    reset: () => state.onReset?.(),
  };
  // Bundlers remove this from production.
  if (process.env.NODE_ENV !== "production") state.createdAt = new Error().stack;
  return state;
}

/**
 * Returns the state of a form of a server function: pass it as the `action` of a `<form>`. A change of the state renders
 * the component again.
 *
 * @param fn the server function; the fields of the form are its parameters, by name
 * @param options `done` is called for each submission that was answered
 * @throws Error if it is called outside the rendering of a component
 * @throws TypeError in development for an unknown option
 * @see docs/forms.md
 * @example
 * const signUp = form(register);
 * return <form action={signUp}>… {signUp.errors.email} <button disabled={signUp.pending}>Register</button></form>;
 */
export function form<F extends FormFunction>(
  fn: F,
  options: ViewFormOptions<Awaited<ReturnType<F>>> = {},
): ViewFormHandle<Awaited<ReturnType<F>>, FieldName<F>> {
  // Bundlers remove this from production. The server has refused a view that it has rendered.
  if (process.env.NODE_ENV !== "production") rejectUnknownOptions(options);
  const key = `${options.key ?? ""}`;
  const state = slot("form", (component) => createForm(component, fn as FormFunction as FormAction, key, true)); // a stub
  // The result and the fields are those of `fn`, whose type the state does not have.
  return Object.assign(state, { fn, key, done: options.done }) as unknown as ViewFormHandle<
    Awaited<ReturnType<F>>,
    FieldName<F>
  >;
}

/**
 * Returns the outcome of the form that was sent without script to get this page, if it is this form. It is returned once:
 * the same form may be shown again later.
 */
function takeSubmission(name: string, key: string, isHandle: boolean): Partial<FormState> | undefined {
  const data: { form?: FormSubmission | undefined } = getPageData();
  const submission = data.form;
  if (!submission || !isSubmissionOf(submission, name, key)) return;
  data.form = undefined;
  const { error, result } = submission;
  return {
    ...submission,
    error: error ? errorFromJson(error) : undefined,
    result: result ?? undefined,
    // When Preact hydrates an element with HTML of its own, it takes over what the server rendered.
    summary: error && !isHandle ? (h("div", { dangerouslySetInnerHTML: { __html: "" } }) as VNode) : undefined,
  };
}

const OPTIONS: Readonly<Record<keyof ViewFormOptions, true>> = { key: true, done: true };

function rejectUnknownOptions(options: object): void {
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(OPTIONS, option));
  if (unknown === undefined) return;
  throw new TypeError(`Unknown option ${unknown} in form(). Valid options: ${Object.keys(OPTIONS).join(", ")}.`);
}
