/**
 * Functions that complete synchronously if nothing has to be awaited, and asynchronously otherwise.
 *
 * They are written like async functions, with `function*` for `async function` and `yield* awaitMaybe(x)` for
 * `await x`, and they throw like async functions. A caller that is itself such a function delegates with `yield*`;
 * {@link run} is called once, by the outermost. Every request passes through them (server/pipeline.ts and rpc/).
 *
 * The reason is their cost. `AsyncLocalStorage` follows every promise of a request, until Node 23 with a hook on each.
 * The same code with plain `async` and `await`, measured 2026-11 in one process without a network, 2 cores, for a call
 * whose body has arrived, in µs (the lowest of 4 runs of each):
 *
 * | | Node 20 | Node 22 | Node 24 |
 * | --- | --- | --- | --- |
 * | function returns a value: this / plain async | 2.1 / 2.9 | 2.1 / 2.9 | 2.1 / 2.3 |
 * | function returns a promise: this / plain async | 2.5 / 3.1 | 2.6 / 3.0 | 2.3 / 2.3 |
 *
 * Once Node 24 is the oldest supported version, plain `async` costs almost nothing and this file can be removed.
 */
export type MaybeAsync<T> = Generator<PromiseLike<unknown>, T, unknown>;

/** Returns a value at once if it is not a promise, and otherwise awaits it. */
export function* awaitMaybe<T>(value: T): MaybeAsync<Awaited<T>> {
  // `yield` returns what the promise resolved with. Any other value is its own awaited type.
  return (isPromise(value) ? yield value : value) as Awaited<T>;
}

/** Runs to the end: returns the result if nothing was awaited, and otherwise a promise of it. */
export function run<T>(generator: MaybeAsync<T>): T | Promise<T> {
  const step = generator.next();
  return step.done ? step.value : continueAsync(generator, step.value);
}

async function continueAsync<T>(generator: MaybeAsync<T>, firstPromise: PromiseLike<unknown>): Promise<T> {
  for (let promise = firstPromise; ; ) {
    let resume: () => IteratorResult<PromiseLike<unknown>, T>;
    try {
      const value = await promise;
      resume = () => generator.next(value);
    } catch (error) {
      resume = () => generator.throw(error);
    }
    const step = resume();
    if (step.done) return step.value;
    promise = step.value;
  }
}

/** Returns whether `await` would wait for a value: whether it has a method `then`. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return false;
  return typeof (value as { then?: unknown }).then === "function"; // any object can be read like this
}
