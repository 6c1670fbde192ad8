/**
 * The forms of server functions: what is checked, how fields become arguments, and what the response shows.
 */

export { bindForm, shapeOf } from "./form-arguments.ts";
export { type FormSettings, type ReceivedForm, requireForm } from "./receive-form.ts";
export { type FormRefusal, type FormSuccess, handleFormCall, runForm } from "./run-form.ts";
export {
  acceptedSubmission,
  createFormHandle,
  explainStaleForm,
  type FormTarget,
  form,
  formTargetOf,
  refusedSubmission,
  type Submission,
  type SubmissionInit,
  setSubmission,
  submissionOf,
  withAllTexts,
} from "./submission.ts";
