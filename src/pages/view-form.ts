import { createFormHandle } from "../forms/index.ts";
import type { FormFunction, FormOptions, ViewFormHandle } from "../protocol/index.ts";
import { getActiveRender } from "./render-state.ts";

/**
 * The server's version of `form` for views: the state of the form in the request that renders the page.
 *
 * @throws TypeError for a value that is not a server function, and for a stream
 */
export function form<R>(fn: FormFunction<R>, options?: FormOptions): ViewFormHandle<R> {
  const view = { pending: false, progress: 0, reset: () => undefined };
  const handle = createFormHandle(fn, options, view);
  const forms = getActiveRender()?.forms;
  if (forms && (handle.error || handle.result !== undefined)) forms.isSubmissionInView = true;
  return handle as ViewFormHandle<R>; // the result is that of the function
}
