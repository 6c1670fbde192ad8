/**
 * The arguments of a call, which are sent by name. Used by the browser and the client.
 *
 * @see docs/protocol.md 3.1
 */
import { RPCError } from "../errors.ts";

/** Arguments by the names of their parameters. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Returns the arguments by name. Those that are `undefined` are dropped later, by `JSON.stringify`.
 *
 * @param params the names of the positional parameters; `undefined` if the function takes one object of its parameters
 * @throws RPCError `validation_error` if there are more arguments than parameters
 */
export function toNamedArguments(
  name: string,
  params: readonly string[] | undefined,
  values: readonly unknown[],
): Arguments {
  const max = params?.length ?? 1;
  if (values.length > max) {
    throw new RPCError("validation_error", `${name}: ${values.length} arguments, at most ${max}`);
  }
  // Without `params`, the function's type allows one object only.
  return params ? Object.fromEntries(params.map((param, i) => [param, values[i]])) : ((values[0] ?? {}) as Arguments);
}
