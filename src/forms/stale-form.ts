/**
 * Forms of pages that belong to another build than the server, which are shown again with all that was typed.
 *
 * @see docs/protocol.md 15.6
 */
import { RequestError } from "../http/index.ts";
import { isStaleError } from "../rpc/index.ts";
import type { FormRefusal } from "./run-form.ts";
import { refusedSubmission } from "./submission.ts";

const CHANGED =
  "The site was updated while this page was open, and the form has changed. Check it, then send it again.";
const REMOVED = "The site was updated while this page was open, and the form was removed.";
const UPDATING = "The site is being updated. Send the form again in a few seconds.";

/** Returns the refusal of a form of another build with a message for its user; any other refusal unchanged. */
export function explainStaleForm(refusal: FormRefusal): FormRefusal {
  const { error, received } = refusal;
  if (!isStaleError(error)) return refusal;
  const { definition } = received;
  const message = error.details.stale === "server" ? UPDATING : definition ? CHANGED : REMOVED;
  const parameters = new Set(definition?.signature.params.map(({ name }) => name));
  const unplaced = typedTexts(refusal).filter(([field]) => !parameters.has(field.split(".")[0] ?? ""));
  return { ...refusal, error: withTexts(error, message, unplaced) };
}

/** Returns the error with a message that contains all that was typed, for a page that does not have the form. */
export function withAllTexts(refusal: FormRefusal, error: RequestError): RequestError {
  return withTexts(error, REMOVED, typedTexts(refusal));
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
function typedTexts({ received, error, lists }: FormRefusal): (readonly [field: string, text: string])[] {
  const init = { name: "", form: "", key: received.key, fields: received.fields, lists };
  return Object.entries(refusedSubmission(init, error).values)
    .map(([field, text]) => [field, String(text)] as const)
    .filter(([, text]) => text.trim() !== "");
}
