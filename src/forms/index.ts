/**
 * The forms of server functions: what is checked, how fields become arguments, and what the response shows.
 */

export { shapeOf } from "./bind-fields.ts";
export { bindForm } from "./form-arguments.ts";
export { createFormHandle, type FormTarget, formTargetOf } from "./form-handle.ts";
export type { FormSettings } from "./form-settings.ts";
export { handleFormCall } from "./handle-form-call.ts";
export type { ReceivedForm } from "./receive-form.ts";
export { requireForm } from "./require-form.ts";
export { type FormRefusal, type FormSuccess, runForm } from "./run-form.ts";
export { explainStaleForm, withAllTexts } from "./stale-form.ts";
export {
  acceptedSubmission,
  isHandled,
  isShown,
  refusedSubmission,
  type Submission,
  type SubmissionInit,
  setShown,
  setSubmission,
  submissionOf,
} from "./submission.ts";
