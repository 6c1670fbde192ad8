type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/**
 * Notes what the visitor did in the fields of an island before its script came: what was typed,
 * checked and selected, and where the caret stands.
 *
 * Preact leaves fields alone when it hydrates, all but textareas; yet the view's variables know
 * nothing of what was typed, and the next rendering would put theirs in its place.
 *
 * @returns puts back what was lost, and tells listeners by the events they missed: `input`, then `change`
 */
export function keepFields(nodes: readonly Node[]): () => void {
  const touched = nodes
    .flatMap((node) => (node instanceof Element ? [node, ...node.querySelectorAll("*")] : []))
    .filter(isField)
    .filter(isTouched)
    .map((field) => ({ field, value: field.value }));
  // Any element may be active; those without a caret have none to put back.
  const active = document.activeElement as HTMLTextAreaElement | null;
  const caret = active?.type === "textarea" ? ([active.selectionStart, active.selectionEnd] as const) : undefined;

  return () => {
    for (const { field, value } of touched) {
      if (field.value !== value) field.value = value;
      // Of a group of radio buttons only the one that was chosen had events.
      if (field.type === "radio" && !(field as HTMLInputElement).checked) continue;
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    }
    if (caret) active?.setSelectionRange(...caret);
  };
}

function isField(element: Element): element is Field {
  return element.matches("input,select,textarea");
}

/** Answers whether a field holds anything else than what the server sent. */
export function isTouched(field: Field): boolean {
  return `${choices(field)}` !== `${choices(untouched(field))}`;
}

/** What a field holds, in whichever way it holds it. */
function choices(field: Field): unknown[] {
  return "options" in field
    ? Array.from(field.options, (option) => option.selected)
    : [field.value, "checked" in field && field.checked];
}

/** The same field as the server sent it. A browser has defaults of its own: the first option, the middle of a range. */
function untouched(field: Field): Field {
  const form = document.createElement("form");
  const copy = field.cloneNode(true) as Field; // a copy of a field is a field
  form.append(copy);
  form.reset();
  return copy;
}
