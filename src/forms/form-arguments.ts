import { type FunctionDefinition, issuesByField, validateArguments } from "../rpc/index.ts";
import { type BoundFields, bindFields } from "./bind-fields.ts";
import { buildFieldTree, type FormFields } from "./field-tree.ts";
import { invalidFieldsError } from "./form-error.ts";

/** Converts the fields of a form to the arguments of its function. */
export function bindForm({ signature, options }: FunctionDefinition, fields: FormFields): BoundFields {
  return bindFields(signature, buildFieldTree(fields), (name) => Object.hasOwn(options.validate ?? {}, name));
}

/**
 * Returns the arguments after the schemas of the function. Parameters whose fields do not match have no value that a
 * schema could check: theirs is left out.
 *
 * @throws RPCError `validation_error` with the messages of all refused fields
 * @see docs/protocol.md 4.5 and 15.4
 */
export async function validateForm({ signature, options }: FunctionDefinition, bound: BoundFields): Promise<unknown[]> {
  const messages = new Map<string, string>();
  const schemas = Object.fromEntries(
    Object.entries(options.validate ?? {}).filter(([name]) => !bound.refused.has(name)),
  );
  const args = await validateArguments(signature, {
    schemas,
    args: bound.args,
    reject: (rejected) => {
      for (const [field, message] of issuesByField(rejected)) if (!messages.has(field)) messages.set(field, message);
    },
  });
  const errors = inOrderOf(signature.params, new Map([...bound.errors, ...messages]));
  if (errors.size > 0) throw invalidFieldsError(errors);
  return withoutTrailingUndefined(args);
}

/** Returns messages in the order of the parameters: the first one is that of `details.parameter`. */
function inOrderOf(
  params: readonly { readonly name: string }[],
  messages: ReadonlyMap<string, string>,
): Map<string, string> {
  const positions = new Map(params.map(({ name }, index) => [name, index]));
  const position = (field: string) => positions.get(field.split(".")[0] ?? "") ?? positions.size;
  return new Map([...messages].sort(([a], [b]) => position(a) - position(b)));
}

/** So that `arguments.length` is that of a direct call. Defaults apply either way. */
function withoutTrailingUndefined(args: readonly unknown[]): unknown[] {
  return args.slice(0, args.findLastIndex((value) => value !== undefined) + 1);
}
