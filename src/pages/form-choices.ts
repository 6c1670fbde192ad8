import type { VNode } from "preact";
import { bindForm, type FormTarget } from "../forms/index.ts";
import { valueOfOption } from "../protocol/index.ts";
import type { Choice, FormChoices, OpenForm } from "./form-rendering-state.ts";

type Props = Readonly<Record<string, unknown>>;

/** Remembers what an element of a form in development sends if it is a radio button or an option. */
export function addChoice(vnode: VNode, type: string, open: OpenForm): void {
  const { name, type: inputType, value, disabled } = vnode.props as Props;
  if (type === "select") open.select = typeof name === "string" ? { vnode, name } : null;
  if (disabled) return; // never sent
  const hasValue = value !== undefined && value !== null;
  if (type === "option" && open.select) {
    add(open.choices, open.select.name, { value: valueOfOption(vnode.props), type: "option", hasValue });
  }
  if (type === "input" && typeof name === "string" && String(inputType).toLowerCase() === "radio") {
    add(open.choices, name, { value: String(value ?? "on"), type: "radio", hasValue });
  }
}

function add(choices: FormChoices, name: string, choice: Choice): void {
  choices.set(name, [...(choices.get(name) ?? []), choice]);
}

/**
 * Returns what is wrong with the radio buttons and options of a form: those whose value the function always refuses. An empty
 * value is accepted: it asks the user to choose.
 */
export function refusedChoices({ definition }: FormTarget, choices: FormChoices): string[] {
  const { params } = definition.signature;
  return [...choices].flatMap(([field, offered]) => {
    const parameter = params.find(({ name }) => name === field.split(".")[0]);
    const isRefused = ({ value }: Choice) =>
      value !== "" && bindForm(definition, new Map([[field, [value]]])).errors.has(field);
    const refused = parameter ? offered.filter(isRefused) : [];
    const [first] = refused;
    if (!parameter || !first) return [];
    const values = [...new Set(refused.map(({ value }) => JSON.stringify(value)))].join(", ");
    const declared = `the parameter ${parameter.name}, which is declared as ${parameter.annotation}`;
    return [
      `${describe(first, field)} that sends ${values}, which is always refused, for ${declared}. ${fixOf(first)}`,
    ];
  });
}

function describe({ type }: Choice, field: string): string {
  const name = JSON.stringify(field);
  return type === "radio" ? `a radio button ${name}` : `an option of <select name=${name}>`;
}

function fixOf({ type, value, hasValue }: Choice): string {
  if (hasValue) return "Correct its value.";
  return type === "radio"
    ? 'Give it a value: <input type="radio" value="…" />.'
    : `Give it a value: <option value="…">${value}</option>.`;
}
