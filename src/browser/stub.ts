/**
 * `tsweb/stub`: what stands in the browser for the exports of a server module.
 */
import type { Stream } from "../protocol/index.ts";
import { type Arguments, byName, openStream, resultOf } from "../protocol/index.ts";
import { post } from "./call.ts";

/** A server function as the browser calls it. What it takes and gives is in the types of `server()`. */
export interface Remote<R> {
  (...values: unknown[]): R;
  /** Calls it with its parameters by name; what is left out takes its default. */
  named(args: Arguments): R;
}

/**
 * Makes the stub of a server function.
 *
 * @param params the names of its positional parameters; without them it takes one object of its parameters
 */
export function stub(name: string, params?: readonly string[]): Remote<Promise<unknown>> {
  const call = async (args: Arguments) => resultOf(name, await post(name, args));
  return Object.assign(async (...values: unknown[]) => call(byName(name, params, values)), { named: call });
}

/**
 * Makes the stub of a streaming function.
 *
 * @param params as for {@link stub}
 */
export function stream(name: string, params?: readonly string[]): Remote<Stream<unknown>> {
  const open = (args: Arguments) => openStream(name, args, post);
  return Object.assign((...values: unknown[]) => open(byName(name, params, values)), { named: open });
}
