import type { FunctionInfo, ParameterInfo } from "../../src/panel/panel-data.ts";
import type { CallArguments } from "./call.ts";

/** What was entered in the fields of a function, by the name of the parameter. */
export type Entered = Readonly<Record<string, string>>;

/** A field whose text is no value of its type. */
export interface FieldProblem {
  readonly name: string;
  readonly message: string;
}

/**
 * Returns the arguments of a call by what was entered. An empty field of an optional parameter is left out, so that the
 * function uses its default. Numbers are sent as they were typed: the function's own check decides.
 */
export function readArguments(
  { params }: FunctionInfo,
  entered: Entered,
  files: ReadonlyMap<string, readonly File[]>,
): CallArguments | FieldProblem {
  const values: Record<string, unknown> = {};
  for (const parameter of params) {
    const { name } = parameter;
    const text = entered[name] ?? "";
    if (parameter.input === "file" || parameter.input === "files") continue;
    if (text === "" && (parameter.optional || parameter.input !== "text")) continue;
    try {
      values[name] = readValue(parameter, text);
    } catch {
      return { name, message: `${name} is not valid JSON. Write a text in quotes: ${JSON.stringify(text)}` };
    }
  }
  const sent = params.flatMap(({ name }) => (files.get(name) ?? []).map((file) => [name, file] as const));
  return { values, files: sent };
}

/** @throws SyntaxError for invalid JSON */
function readValue({ input }: ParameterInfo, text: string): unknown {
  return input === "text" || input === "int" || input === "float" ? text : JSON.parse(text);
}
