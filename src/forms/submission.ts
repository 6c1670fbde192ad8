import { rejectUnknownOptions } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import { ContextKey, currentContext, type RequestContext, RequestError } from "../http/index.ts";
import {
  CSRF_FIELD,
  type FieldName,
  type FieldValues,
  type FormFunction,
  type FormHandle,
  type FormOptions,
  type FormSubmission,
  fieldErrors,
  isSubmissionOf,
  KEY_FIELD,
} from "../protocol/index.ts";
import { definitionOf, type FunctionDefinition, isSecretName, isStaleError } from "../rpc/index.ts";
import { type FormFields, segmentsOf } from "./convert-field.ts";
import type { FormRefusal } from "./run-form.ts";

/** A submission on the server, which also has what the rendering of its form needs. */
export interface Submission extends FormSubmission {
  /**
   * All texts of a form that was refused, by field: those of repeated fields, and of passwords too. They fill in the
   * fields again.
   */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** Whether a handle has its outcome: the application can show it. */
  isHandled: boolean;
  /** Whether the page contains its form, and so what was typed. */
  isShown: boolean;
}

/** The values that a {@link Submission} is created from. */
export interface SubmissionInit {
  /** The name of the function. */
  readonly name: string;
  /** The name of the function of the form's `action`. */
  readonly form: string;
  readonly key: string;
  readonly fields: FormFields;
  /** The names of the fields that are lists. */
  readonly lists: ReadonlySet<string>;
}

/** Returns the submission of a form whose function returned a result. Its fields are empty again, unless the page fills them. */
export function acceptedSubmission({ fields, lists, ...init }: SubmissionInit, result: unknown): Submission {
  const values = valuesOf(typedTexts(fields), lists);
  const outcome = { values, error: null, errors: {}, result };
  return { ...init, ...outcome, texts: new Map(), isHandled: false, isShown: false };
}

/** Returns the submission of a form that was refused. Its fields show what was typed. */
export function refusedSubmission({ fields, lists, ...init }: SubmissionInit, error: RPCError): Submission {
  const { code, message, details } = error;
  const texts = typedTexts(fields);
  const values = valuesOf(texts, lists);
  const outcome = { values, error: { code, message, details }, errors: fieldErrors(error), result: null };
  return { ...init, ...outcome, texts, isHandled: false, isShown: false };
}

/**
 * The size of the texts that a page shows again, in UTF-16 code units. Most forms have less. Rendering 1 MiB of quotes, which are
 * escaped, blocks the event loop for half a second.
 */
const MAX_SHOWN = 64 * 1024;

/**
 * Returns the texts of a form, with line ends as JavaScript has them, without reserved fields: the first fields that have
 * {@link MAX_SHOWN} together.
 */
function typedTexts(fields: FormFields): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  let left = MAX_SHOWN;
  for (const [name, values] of fields) {
    if (name === CSRF_FIELD || name === KEY_FIELD || !segmentsOf(name)) continue;
    const ownTexts = values.filter((value) => typeof value === "string");
    const length = ownTexts.reduce((total, text) => total + text.length, name.length);
    if (ownTexts.length === 0 || length > left) continue;
    left -= length;
    texts.set(name, ownTexts);
  }
  return texts;
}

/** Returns what a page may show of the texts: nothing of a field that is named like a secret. */
function valuesOf(texts: ReadonlyMap<string, readonly string[]>, lists: ReadonlySet<string>): FieldValues {
  const values: Record<string, string | readonly string[]> = {};
  for (const [name, ownTexts] of texts) {
    if (!isSecretName(name)) values[name] = lists.has(name) ? ownTexts : (ownTexts.at(-1) ?? "");
  }
  return values;
}

/** The form that a request has sent without script. */
const SUBMISSION = new ContextKey<Submission>();

/** Sets the submission that the response to a request shows. It is kept in the context of the request only. */
export function setSubmission(context: RequestContext, submission: Submission): void {
  context.set(SUBMISSION, submission);
}

/** Returns the submission that the response to a request shows; `null` if no form was sent without script. */
export function submissionOf(context: RequestContext | undefined): Submission | null {
  return context?.get(SUBMISSION) ?? null;
}

/** What the `action` of a form refers to. */
export interface FormTarget {
  readonly definition: FunctionDefinition;
  /** The key of the form; empty without one. */
  readonly key: string;
  /** Whether the application shows the errors itself, since it has a handle. */
  readonly hasHandle: boolean;
}

const targets = new WeakMap<object, FormTarget>();

/** Returns what an `action` refers to: a server function, or a handle of {@link form}; `undefined` for anything else. */
export function formTargetOf(action: unknown): FormTarget | undefined {
  if (typeof action === "object" && action !== null) return targets.get(action);
  const definition = definitionOf(action);
  return definition && { definition, key: "", hasHandle: false };
}

/**
 * Returns the state of a form on the server: that of the request's submission, if this form was sent.
 *
 * @param members further members of the handle
 * @throws TypeError for a value that is not a server function, and for a stream
 */
export function createFormHandle<M extends object>(
  fn: unknown,
  { key = "" }: FormOptions = {},
  members?: M,
): FormHandle & M {
  const definition = definitionOf(fn);
  if (!definition || definition.signature.stream) {
    const received = definition ? "a stream" : typeof fn === "function" ? "another function" : String(fn);
    throw new TypeError(`form(): expected a server function, received ${received}. Declare it with server().`);
  }
  const target: FormTarget = { definition, key: String(key), hasHandle: true };
  const handle = Object.assign(stateOf(target), members);
  targets.set(handle, target);
  return handle;
}

function stateOf({ definition, key }: FormTarget): FormHandle {
  const submission = submissionOf(currentContext()); // none outside a request, as in a test of a view
  if (!submission || !isSubmissionOf(submission, definition.signature.name, key)) {
    return { values: {}, error: undefined, errors: {}, result: undefined };
  }
  submission.isHandled = true;
  const { values, error, errors, result } = submission;
  return {
    values,
    error: error ? new RPCError(error.code, error.message, error.details) : undefined,
    errors,
    result: result ?? undefined,
  };
}

/**
 * Returns the state of a form of a server function in a page: what was typed, and why it was refused. Pass it as the
 * `action` of a `<form>`. The form then shows no summary of its errors, since the page shows them.
 *
 * The state is that of the current request. It is empty, unless the request has sent this form.
 *
 * @param options `key` tells several forms of one function apart: an id of the item that the form is about
 * @throws TypeError for a value that is not a server function, for a stream, and for an unknown option
 * @see docs/protocol.md 15.5
 * @example
 * const signUp = form(register);
 * return <form action={signUp}><input name="email" /><p>{signUp.errors.email}</p><button>Register</button></form>;
 */
export function form<F extends FormFunction>(
  fn: F,
  options: FormOptions = {},
): FormHandle<Awaited<ReturnType<F>>, FieldName<F>> {
  rejectUnknownOptions(options, OPTIONS, "form()");
  // The result and the names of the fields are those of the function.
  return createFormHandle(fn, options) as unknown as FormHandle<Awaited<ReturnType<F>>, FieldName<F>>;
}

const OPTIONS: Readonly<Record<keyof FormOptions, true>> = { key: true };

const CHANGED =
  "The site was updated while this page was open, and the form has changed. Check it, then send it again.";
const REMOVED = "The site was updated while this page was open, and the form was removed.";
const UPDATING = "The site is being updated. Send the form again in a few seconds.";

/**
 * Returns the refusal of a form of another build with a message for its user; any other refusal unchanged. The form is shown
 * again with all that was typed.
 *
 * @see docs/protocol.md 15.6
 */
export function explainStaleForm(refusal: FormRefusal): FormRefusal {
  const { error, received } = refusal;
  if (!isStaleError(error)) return refusal;
  const { definition } = received;
  const message = error.details.stale === "server" ? UPDATING : definition ? CHANGED : REMOVED;
  const parameters = new Set(definition?.signature.params.map(({ name }) => name));
  const unplaced = shownTexts(refusal).filter(([field]) => !parameters.has(field.split(".")[0] ?? ""));
  return { ...refusal, error: withTexts(error, message, unplaced) };
}

/** Returns the error with a message that contains all that was typed, for a page that does not have the form. */
export function withAllTexts(refusal: FormRefusal, error: RequestError): RequestError {
  return withTexts(error, REMOVED, shownTexts(refusal));
}

function withTexts(
  { code, headers, details }: RequestError,
  message: string,
  texts: readonly (readonly [field: string, text: string])[],
): RequestError {
  const list = texts.map(([field, text]) => `${field}: ${text}`).join("; ");
  return new RequestError(code, list === "" ? message : `${message} You had typed: ${list}`, { headers, details });
}

/** Returns what a page may show of the texts: nothing of reserved fields, and of those that are named like a secret. */
function shownTexts({ received, lists }: FormRefusal): (readonly [field: string, text: string])[] {
  return Object.entries(valuesOf(typedTexts(received.fields), lists))
    .map(([field, text]) => [field, String(text)] as const)
    .filter(([, text]) => text.trim() !== "");
}
