/** Matches the button that was clicked last, except one with an action of the browser. */
const CLICKED = "button[type=button]:not(:active,:focus-visible,[popovertarget],[commandfor])";

/** An element with a value that the user edits. */
export type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The members of fields that the user changes. Each kind of field has some of them. */
interface FieldState {
  readonly options?: HTMLOptionsCollection;
  readonly value: string;
  readonly checked?: boolean;
}

/**
 * Captures the user's input in the fields of an island before it is hydrated: text, checked and selected state, and
 * the caret of a focused textarea.
 *
 * Preact keeps the input of all fields except textareas when it hydrates. But the state of the view does not have
 * it, so the next rendering would overwrite it.
 *
 * A click on a button without an action of its own is repeated if it was made at most five seconds ago: the button has the
 * focus since then. It is not while the button is pressed, nor if the focus came from the keyboard.
 *
 * @returns a function that restores the input and dispatches the events that were missed: `input`, then `change`, and `click`
 */
export function captureFields(nodes: readonly Node[]): () => void {
  // `contains` of a form may be a field of that name.
  const isInside = (element: Element) => nodes.some((node) => Node.prototype.contains.call(node, element));
  const modified = getFields()
    .filter((field) => isInside(field) && isModified(field))
    .map((field) => [field, field.value] as const);
  // Any element may be active; `type` is read from all, the caret from textareas only.
  const active = document.activeElement as HTMLTextAreaElement | null;
  const caret = active?.type === "textarea" && ([active.selectionStart, active.selectionEnd] as const);

  const isClicked = active?.matches(CLICKED) && navigator.userActivation?.isActive;

  return () => {
    for (const [field, value] of modified) {
      if (field.value !== value) field.value = value;
      dispatchInput(field);
    }
    if (caret) active?.setSelectionRange(...caret);
    if (isClicked && isInside(active as Element)) active?.click(); // isClicked: there is one
  };
}

/** Dispatches the events of an input by the user, so that the state of the view follows the field. */
export function dispatchInput(field: Field): void {
  // In a group of radio buttons, only the chosen one receives events.
  if (field.type === "radio" && !(field as HTMLInputElement).checked) return; // only inputs are radio buttons
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
}

/** Submits a form as if its button were clicked. `form.requestSubmit` may be a field of that name. */
export function requestSubmit(form: HTMLFormElement, submitter: HTMLElement | null): void {
  HTMLFormElement.prototype.requestSubmit.call(form, submitter);
}

/** Returns all fields of the page. */
export function getFields(): Field[] {
  return [...document.querySelectorAll<Field>("input,select,textarea")];
}

/** Returns whether a field differs from what the server sent. */
export function isModified(field: Field): boolean {
  const form = document.createElement("form");
  const copy = field.cloneNode(true) as Field; // a copy of a field is a field
  copy.name = copy.id = ""; // `form.reset` would be a field of that name
  form.append(copy);
  form.reset(); // browsers have defaults of their own: the first option, the middle of a range
  return fieldState(field) !== fieldState(copy);
}

/** Returns the user-editable state of a field as text, for comparison. */
function fieldState({ options, value, checked }: FieldState): string {
  return `${options ? Array.from(options, (option) => option.selected) : [value, checked]}`;
}
