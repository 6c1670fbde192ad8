import { ARGUMENTS_FIELD } from "../protocol/index.ts";
import {
  applySchemas,
  bindArguments,
  type CallSettings,
  type FunctionDefinition,
  readArgumentsField,
} from "../rpc/index.ts";
import type { FormFields } from "./field-tree.ts";

/** Returns the field of arguments of a call with files; `undefined` if the fields are those of a form. */
export function argumentsField(fields: FormFields): string | undefined {
  return fields.get(ARGUMENTS_FIELD)?.find((value) => typeof value === "string");
}

/**
 * Returns the arguments of a call with files: those of the field `__args`, bound as in any call, and the files of the
 * parameters that take them.
 *
 * @throws RPCError `validation_error` as a call
 * @see docs/protocol.md 15.7
 */
export async function callArguments(
  definition: FunctionDefinition,
  { fields, text }: { readonly fields: FormFields; readonly text: string },
  strict: CallSettings["strict"],
): Promise<readonly unknown[]> {
  const { signature } = definition;
  const args: Record<string, unknown> = { ...readArgumentsField(text) };
  for (const { name, files } of signature.params) {
    if (!files) continue;
    const received = fields.get(name)?.filter((value) => typeof value !== "string") ?? [];
    if (files === "many") args[name] ??= received;
    else if (received.length > 0) args[name] = received.at(-1);
  }
  return applySchemas(definition, bindArguments(signature, args, strict?.get(signature.name)));
}
