import type { VNode } from "preact";
import { bindForm, type FormTarget, shapeOf } from "../forms/index.ts";
import { type Parameter, valueOfOption } from "../protocol/index.ts";
import {
  type Choice,
  describeLocation,
  type FieldKind,
  type FormChoices,
  type FormRendering,
  locationOf,
  type OpenForm,
} from "./render-state.ts";

/**
 * Warns about a form that cannot work as its function is declared: fields that are no parameter, required parameters
 * without a field, texts for files or files for texts, and choices that are always refused. In development only.
 *
 * @see docs/protocol.md 15.5
 */
export function checkFormFields(
  forms: FormRendering,
  { vnode, target, fields, unnamed, choices }: OpenForm,
  warn: (message: string) => void,
): void {
  const { signature } = target.definition;
  const location = `The form of ${signature.name}${describeLocation(locationOf(vnode)) || " in the page"}`;
  const problems = [...mismatchedFields(target, fields), ...refusedChoices(target, choices)];
  for (const message of problems) warn(`${location} has ${message}`);
  const names = new Set(fields.keys());
  for (const name of unknownFields(target, names)) {
    const valid = signature.params.map((parameter) => parameter.name).join(", ") || "none";
    warn(
      `${location} has a field ${JSON.stringify(name)} that is no parameter, so it is ignored. Parameters: ${valid}.`,
    );
  }
  for (const name of missingFields(target, names)) {
    const refused = `has no field for the required parameter ${name}, so that every submission is refused.`;
    warn(`${location} ${refused}${describeUnnamed(unnamed, name)}`);
  }
  const id = JSON.stringify([signature.name, target.key]);
  if (forms.rendered.has(id)) {
    warn(
      `${location} occurs twice with the same key, so that an error is shown in both. Give each a key: ` +
        `form(${signature.name}, { key: item.id }).`,
    );
  }
  forms.rendered.add(id);
}

/** Returns the fields that may be meant for a parameter, because they have no name; an empty text if there are none. */
function describeUnnamed([field]: readonly VNode[], name: string): string {
  if (!field) return "";
  const element = `${field.type === "input" ? "An" : "A"} <${String(field.type)}>${describeLocation(locationOf(field))}`;
  return ` ${element} has no name, so it is not sent. Is it name=${JSON.stringify(name)}?`;
}

/** Returns the names of fields that are no parameter and no member of one. Reserved names are those of the framework. */
function unknownFields({ definition }: FormTarget, names: ReadonlySet<string>): string[] {
  const parameters = new Set(definition.signature.params.map((parameter) => parameter.name));
  return [...names].filter((name) => !name.startsWith("__") && !parameters.has(name.split(".")[0] ?? ""));
}

/** Returns what is wrong with fields that send texts where a file is expected, or the reverse. */
function mismatchedFields({ definition }: FormTarget, fields: ReadonlyMap<string, readonly FieldKind[]>): string[] {
  return definition.signature.params.flatMap(({ name, files, annotation }) => {
    const kinds = fields.get(name) ?? [];
    const field = `field ${JSON.stringify(name)}`;
    if (files && kinds.length > 0 && kinds.every((kind) => kind === "text")) {
      return [
        `a text in the ${field}, but the parameter is a ${annotation}. Use <input type="file" name="${name}" />.`,
      ];
    }
    if (files || !kinds.includes("file")) return [];
    return [`a file in the ${field}, but the parameter is ${annotation}. Declare it as ${name}: File, or File[].`];
  });
}

function missingFields({ definition }: FormTarget, names: ReadonlySet<string>): string[] {
  const parameters = new Set([...names].map((name) => name.split(".")[0]));
  return definition.signature.params
    .filter((parameter) => needsField(parameter) && !parameters.has(parameter.name))
    .map((parameter) => parameter.name);
}

/** Returns whether a form without a field for a parameter is refused. A checkbox and a list may have nothing to send. */
function needsField(parameter: Parameter): boolean {
  if (parameter.optional) return false;
  if (parameter.files) return parameter.files === "one" && !parameter.nullable;
  const { kinds = [], list } = shapeOf(parameter);
  return !list && !(kinds.length === 1 && kinds[0] === "boolean");
}

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
function refusedChoices({ definition }: FormTarget, choices: FormChoices): string[] {
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
