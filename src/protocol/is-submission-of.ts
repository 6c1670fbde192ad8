import type { FormSubmission } from "./form.ts";

/**
 * Returns whether a submission was sent by a form of this function and key. It has a file of its own, because the other
 * functions for forms are loaded later than this one.
 */
export function isSubmissionOf(submission: FormSubmission, name: string, key: string): boolean {
  return submission.key === key && (submission.name === name || submission.form === name);
}
