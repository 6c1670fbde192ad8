import { type FieldErrors, type FieldValues, fieldErrorId } from "../protocol/index.ts";
import { dispatchInput, type Field, getFields, isModified } from "./fields.ts";

/** Returns the fields of a form. It does not read `form.elements`, which a field of that name replaces. */
function fieldsOf(form: HTMLFormElement): Field[] {
  return getFields().filter((field) => field.form === form);
}

/** Returns the names of the disabled fields of a form. */
export function disabledNames(form: HTMLFormElement): string[] {
  return fieldsOf(form)
    .filter((field) => field.matches(":disabled"))
    .map(({ name }) => name);
}

/**
 * Resets the fields of a form to their defaults, and dispatches the events of an input by the user. An application
 * prevents it as in HTML: by `preventDefault` of the `reset` event.
 */
export function resetFields(form: HTMLFormElement): void {
  const modified = fieldsOf(form).filter(isModified);
  // Firefox replaces the text nodes of an `<output>`: Preact would then write the result to one that is not shown.
  const outputs = [...document.querySelectorAll("output")].filter((output) => output.form === form);
  const texts = outputs.map(({ childNodes }) => [...childNodes]);
  HTMLFormElement.prototype.reset.call(form); // form.reset may be a field of that name
  outputs.forEach((output, index) => void output.replaceChildren(...(texts[index] ?? [])));
  modified.forEach(dispatchInput);
}

/**
 * Passes the values that the server has restored to the view, like text that was typed early. From then on, the
 * defaults of text fields are empty, because those of the application were replaced by the values.
 */
export function takeOverFields(form: HTMLFormElement, values: FieldValues): void {
  for (const field of fieldsOf(form)) {
    const typed = values[field.name];
    if (typed === undefined) continue;
    // Preact sets the text of a textarea when it hydrates, and of no other field.
    const value = field.type === "textarea" ? `${typed}` : field.value;
    if ("defaultValue" in field && !/^(checkbox|radio)$/.test(field.type)) field.defaultValue = "";
    if (!("options" in field)) field.value = value;
    dispatchInput(field);
  }
}

/**
 * Marks the fields with errors, as the server does when it renders a form that was refused.
 *
 * @returns the first of the fields
 */
export function markFields({ element, isHandle, fn, key }: MarkedForm, errors: FieldErrors): Field | undefined {
  let first: Field | undefined;
  for (const field of element ? fieldsOf(element) : []) {
    const isInvalid = Object.hasOwn(errors, field.name);
    if (isInvalid) first ??= field;
    setAttribute(field, "aria-invalid", isInvalid && "true");
    if (isHandle) continue;
    const id = fieldErrorId(fn.id, key, field.name);
    const ids = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((other) => other && other !== id);
    setAttribute(field, "aria-describedby", (isInvalid ? [...ids, id] : ids).join(" "));
  }
  return first;
}

/** What {@link markFields} needs of a form. */
interface MarkedForm {
  readonly element?: HTMLFormElement;
  readonly isHandle: boolean;
  readonly fn: { readonly id: string };
  readonly key: string;
}

function setAttribute(element: Element, name: string, value: string | false): void {
  if (value) element.setAttribute(name, value);
  else element.removeAttribute(name);
}
