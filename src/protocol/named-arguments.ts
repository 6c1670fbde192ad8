/**
 * The arguments of a call, which are sent by name. Used by the browser and the client.
 *
 * @see docs/protocol.md 3.1
 */

/** Arguments by the names of their parameters. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Returns the arguments by name. Those that are `undefined` are dropped later, by `JSON.stringify`. Arguments without a
 * parameter are ignored: `checkArgumentCount` refuses them, which production pages do not load.
 *
 * @param params the names of the positional parameters; `undefined` if the function takes one object of its parameters
 */
export function toNamedArguments(params: readonly string[] | undefined, values: readonly unknown[]): Arguments {
  // Without `params`, the function's type allows one object only.
  return params ? Object.fromEntries(params.map((param, i) => [param, values[i]])) : ((values[0] ?? {}) as Arguments);
}
