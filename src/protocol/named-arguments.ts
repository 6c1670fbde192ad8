import { RPCError } from "../errors.ts";

/** Arguments by the names of their parameters. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Gives the arguments their names. What is `undefined` is left out, by JSON itself.
 *
 * @param params the names of the positional parameters; without them the function takes one object of its parameters
 * @throws RPCError `validation_error` for more arguments than the function takes
 */
export function byName(name: string, params: readonly string[] | undefined, values: readonly unknown[]): Arguments {
  const most = params?.length ?? 1;
  if (values.length > most) {
    throw new RPCError("validation_error", `${name}: too many arguments: ${values.length}, at most ${most}`);
  }
  // A keyed function is typed to take one object.
  return params ? Object.fromEntries(params.map((param, i) => [param, values[i]])) : ((values[0] ?? {}) as Arguments);
}
