import { rejectUnknownOptions } from "../config/index.ts";
import { createFormHandle } from "../forms/index.ts";
import type { FieldName, FormFunction, ViewFormHandle, ViewFormOptions } from "../protocol/index.ts";
import { getActiveRender } from "./render-state.ts";

/**
 * The server's version of `form` for views: the state of the form in the request that renders the page.
 *
 * @throws TypeError for a value that is not a server function, for a stream, and for an unknown option
 */
export function form<F extends FormFunction>(
  fn: F,
  options: ViewFormOptions<Awaited<ReturnType<F>>> = {},
): ViewFormHandle<Awaited<ReturnType<F>>, FieldName<F>> {
  rejectUnknownOptions(options, OPTIONS, "form()");
  const view = { pending: false, progress: 0, reset: () => undefined };
  const handle = createFormHandle(fn, options, view);
  const forms = getActiveRender()?.forms;
  if (forms && (handle.error || handle.result !== undefined)) forms.isSubmissionInView = true;
  // The result and the names of the fields are those of the function.
  return handle as unknown as ViewFormHandle<Awaited<ReturnType<F>>, FieldName<F>>;
}

const OPTIONS: Readonly<Record<keyof ViewFormOptions, true>> = { key: true, done: true };
