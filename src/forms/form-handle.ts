import { rejectUnknownOptions } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import {
  type FieldName,
  type FormFunction,
  type FormHandle,
  type FormOptions,
  isSubmissionOf,
} from "../protocol/index.ts";
import { definitionOf, type FunctionDefinition } from "../rpc/index.ts";
import { currentSubmission, setHandled } from "./submission.ts";

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
  const submission = currentSubmission();
  if (!submission || !isSubmissionOf(submission, definition.signature.name, key)) {
    return { values: {}, error: undefined, errors: {}, result: undefined };
  }
  setHandled(submission);
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
