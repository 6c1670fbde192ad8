/**
 * The entry point `tsweb/stub`: the functions with which the compiler replaces the exports of a server module in the
 * browser.
 */
import type { Stream } from "../protocol/index.ts";
import { type Arguments, openStream, readResult, toNamedArguments } from "../protocol/index.ts";
import { post } from "./call.ts";

/** A stub. Its parameters and result are typed by `server()`; these types are for the compiled code. */
export interface RemoteFunction<R> {
  (...values: unknown[]): R;
  /** Calls the function with arguments by name. Omitted parameters have their defaults. */
  named(args: Arguments): R;
}

/**
 * Returns the stub of a server function.
 *
 * @param params the names of the positional parameters; absent if the function takes one object of named parameters
 */
export function stub(name: string, params?: readonly string[]): RemoteFunction<Promise<unknown>> {
  const call = async (args: Arguments) => readResult(name, await post(name, args));
  return Object.assign(async (...values: unknown[]) => call(toNamedArguments(name, params, values)), { named: call });
}

/**
 * Returns the stub of a streaming function.
 *
 * @param params as for {@link stub}
 */
export function stream(name: string, params?: readonly string[]): RemoteFunction<Stream<unknown>> {
  const open = (args: Arguments) => openStream(name, args, post);
  return Object.assign((...values: unknown[]) => open(toNamedArguments(name, params, values)), { named: open });
}
