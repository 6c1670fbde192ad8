import type { ComponentChildren, VNode } from "preact";
import { CSRF_FIELD, type FieldErrors, KEY_FIELD } from "./form.ts";

/** Creates an element, as Preact's `h`. It is passed, because this folder imports only types of Preact. */
type CreateElement = (type: string, props: Record<string, unknown> | null, ...children: ComponentChildren[]) => VNode;

/** The parts of the head of a form. */
export interface FormHead {
  readonly name: string;
  /** The key of the form; empty without one. */
  readonly key: string;
  /** The CSRF token; `null` if CSRF tokens are not configured. */
  readonly csrfToken: string | null;
  /** The error to summarise; `null` without one, and if the form has a handle, which shows it itself. */
  readonly error: { readonly message: string } | null;
  readonly errors: FieldErrors;
}

/**
 * Returns what precedes the children of a form: the hidden fields, then the summary of the errors. The server and the
 * browser both render it with this function, so that a view is hydrated without differences.
 *
 * @see docs/protocol.md 15.5
 */
export function formHead(h: CreateElement, { name, key, csrfToken, error, errors }: FormHead): VNode[] {
  const head: VNode[] = [];
  if (csrfToken !== null) head.push(hiddenField(h, CSRF_FIELD, csrfToken));
  if (key !== "") head.push(hiddenField(h, KEY_FIELD, key));
  if (error) head.push(errorSummary(h, { name, key, error, errors }));
  return head;
}

function hiddenField(h: CreateElement, name: string, value: string): VNode {
  return h("input", { type: "hidden", name, value });
}

function errorSummary(h: CreateElement, { name, key, error, errors }: Omit<FormHead, "csrfToken">): VNode {
  const fields = Object.entries(errors);
  // The first refused field has the focus. Without one, the summary has it.
  const props = {
    class: "form-errors",
    role: "alert",
    tabindex: -1,
    ...(fields.length > 0 ? {} : { autofocus: true }),
  };
  if (fields.length === 0) return h("div", props, h("p", null, error?.message));
  const items = fields.map(([field, message]) =>
    h("li", { id: fieldErrorId(name, key, field) }, `${fieldLabel(field)}: ${message}`),
  );
  return h("div", props, h("ul", null, items));
}

/**
 * Returns the id of the message of a field in the summary of a form. The field refers to it by `aria-describedby`,
 * whose ids are separated by spaces: the id has none.
 */
export function fieldErrorId(name: string, key: string, field: string): string {
  return [name, key, field, "error"].filter(Boolean).map(encodeURIComponent).join("-");
}

/** Returns the name of a field for users: `billing_address.zipCode` is `Billing address zip code`. */
function fieldLabel(field: string): string {
  const words = field
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/[._\s-]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
