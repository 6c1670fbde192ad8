/**
 * `tsweb/stub`: what stands in the browser for the exports of a server module.
 */
import { RPCError } from "../errors.ts";
import type { Stream } from "../stream.ts";
import { type Arguments, failure, post, received, resultOf } from "./call.ts";
import { readLines } from "./lines.ts";

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
  const open = (args: Arguments): Stream<unknown> => {
    const abort = new AbortController();
    let isRead = false;
    return {
      cancel: () => abort.abort(),
      [Symbol.asyncIterator]() {
        if (isRead) throw new TypeError("A stream can be read once: call the function again for another.");
        isRead = true;
        return read(name, args, abort);
      },
    };
  };
  return Object.assign((...values: unknown[]) => open(byName(name, params, values)), { named: open });
}

/** Sends the call at the first read and gives its values; ends the request whichever way it is left. */
async function* read(name: string, args: Arguments, abort: AbortController): AsyncGenerator<unknown, void> {
  const { signal } = abort;
  let isOver = false;
  try {
    const response = await post(name, args, signal);
    // Not a stream: what it carries is an error, and if it is not, that is one.
    if (!response.ok || !response.body) throw await resultOf(name, response);
    for await (const line of readLines(response.body)) {
      const { chunk, done, error } = JSON.parse(line);
      if (signal.aborted) return;
      isOver = done || error;
      if (error) throw received(error);
      if (done) return;
      yield chunk;
    }
    throw new Error("It ended without a last line");
  } catch (error) {
    // Cancelled: the loop ends without an error, whatever the request ended with.
    if (signal.aborted) return;
    throw error instanceof RPCError ? error : failure(`${name}: the stream ended early`, error);
  } finally {
    // After the last line the connection may serve other calls.
    if (!isOver) abort.abort();
  }
}

/** Gives the arguments their names. What is `undefined` is left out, by JSON itself. */
function byName(name: string, params: readonly string[] | undefined, values: readonly unknown[]): Arguments {
  const most = params ? params.length : 1;
  if (values.length > most) {
    throw new RPCError("validation_error", `${name} takes ${most} arguments, not ${values.length}`);
  }
  // A keyed stub is typed to take one object.
  return params ? Object.fromEntries(params.map((param, i) => [param, values[i]])) : ((values[0] ?? {}) as Arguments);
}
