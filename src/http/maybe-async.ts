/**
 * Work in steps, most of which are done at once: it waits only where a step gives a promise.
 *
 * It reads as an async function does, `function*` standing for `async function` and `yield* ready(x)` for
 * `await x`, and it fails as one does. It is for what every call passes: a promise is followed by
 * `AsyncLocalStorage` from its making, and a dozen of them cost a call as much as all that it does.
 */
export type MaybeAsync<T> = Generator<PromiseLike<unknown>, T, unknown>;

/** Gives a value that is there, or waits for it, as `await` does. */
export function* awaitMaybe<T>(value: T): MaybeAsync<Awaited<T>> {
  // What comes back from a yield is what the promise resolved to; what is no promise is awaited already.
  return (isPromise(value) ? yield value : value) as Awaited<T>;
}

/** Runs steps to their end: at once where none of them has to wait, else as a promise. */
export function run<T>(steps: MaybeAsync<T>): T | Promise<T> {
  const step = steps.next();
  return step.done ? step.value : continueAsync(steps, step.value);
}

async function continueAsync<T>(steps: MaybeAsync<T>, awaited: PromiseLike<unknown>): Promise<T> {
  for (let waitedFor = awaited; ; ) {
    let next: () => IteratorResult<PromiseLike<unknown>, T>;
    try {
      const value = await waitedFor;
      next = () => steps.next(value);
    } catch (error) {
      next = () => steps.throw(error);
    }
    const step = next();
    if (step.done) return step.value;
    waitedFor = step.value;
  }
}

/** Answers whether `await` would wait for a value: whether it has a method `then`. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return false;
  return typeof (value as { then?: unknown }).then === "function"; // any object may be asked for a field
}
