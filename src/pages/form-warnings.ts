import { type FormTarget, shapeOf } from "../forms/index.ts";
import type { Parameter } from "../protocol/index.ts";
import type { FormRendering, OpenForm } from "./form-rendering-state.ts";

/**
 * Warns about a form that cannot work as its function is declared: fields that are no parameter, and required parameters
 * without a field. In development only.
 *
 * @see docs/protocol.md 15.5
 */
export function checkFormFields(
  forms: FormRendering,
  { target, names }: OpenForm,
  warn: (message: string) => void,
): void {
  const { signature } = target.definition;
  const location = `The form of ${signature.name} in the page`;
  for (const name of unknownFields(target, names)) {
    const valid = signature.params.map((parameter) => parameter.name).join(", ") || "none";
    warn(
      `${location} has a field ${JSON.stringify(name)} that is no parameter, so it is ignored. Parameters: ${valid}.`,
    );
  }
  for (const name of missingFields(target, names)) {
    warn(`${location} has no field for the required parameter ${name}, so that every submission is refused.`);
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

/** Returns the names of fields that are no parameter and no member of one. Reserved names are those of the framework. */
function unknownFields({ definition }: FormTarget, names: ReadonlySet<string>): string[] {
  const parameters = new Set(definition.signature.params.map((parameter) => parameter.name));
  return [...names].filter((name) => !name.startsWith("__") && !parameters.has(name.split(".")[0] ?? ""));
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
