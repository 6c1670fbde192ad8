import { currentContext, isPromise, type RequestContext } from "../http/index.ts";

/** Something that a page function has awaited. */
interface Wait {
  /** The source of what was awaited. */
  readonly text: string;
  readonly line: number;
  readonly ms: number;
}

/** The longest wait of each request. They live as long as the context of the request. */
const longest = new WeakMap<RequestContext, Wait>();

/** How long a page waits for one thing before the developer is advised to show the rest of it meanwhile, in milliseconds. */
const LONG_WAIT_MS = 300;

/**
 * Returns what a page function awaits, and measures how long it does. Called by the code that the compile step generates in
 * development.
 *
 * A thenable becomes a promise, as `await` would make of it: some run their query each time `then` is called.
 *
 * @param text the source of the expression
 * @param line the line of the `await`
 */
export function waited<T>(value: T, text: string, line: number): T | Promise<Awaited<T>> {
  const context = currentContext();
  if (!context || !isPromise(value)) return value;
  const startMs = performance.now();
  const promise = Promise.resolve(value);
  const record = () => {
    const ms = performance.now() - startMs;
    if (ms > (longest.get(context)?.ms ?? 0)) longest.set(context, { text, line, ms });
  };
  promise.then(record, record);
  return promise;
}

/** Returns the advice about what a page has waited for; `undefined` if it was not long. */
export function adviseLater(
  context: RequestContext,
  file: string,
): { readonly key: string; readonly message: string } | undefined {
  const wait = longest.get(context);
  if (!wait || wait.ms < LONG_WAIT_MS) return undefined;
  const place = `\`${wait.text}\` (${file}:${wait.line})`;
  const message = `This page waited ${Math.round(wait.ms)} ms for ${place}: wrap it in <Later>, so that the rest of the page does not wait.`;
  return { key: place, message };
}
