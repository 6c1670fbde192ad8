import { currentContext } from "./context-storage.ts";
import type { RequestContext } from "./request-context.ts";

/** The outcome of one call of a function. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** The outcomes of a function by its arguments: each level of the tree is one argument. */
interface Outcomes {
  outcome?: Outcome;
  next?: Map<unknown, Outcomes>;
}

type AnyFunction = (...args: never[]) => unknown;

/** The outcomes of a request, by function. They live as long as the context of the request. */
const outcomesByRequest = new WeakMap<RequestContext, Map<AnyFunction, Outcomes>>();

/**
 * Returns a function that runs `fn` at most once per request for the same arguments, and returns the first result to all
 * callers. A promise is shared as it is, and an error is thrown again. Use it for data that a layout and a page both need.
 *
 * Arguments are compared as the keys of a `Map`: an object equals only itself. The results are forgotten after the
 * function of a form has run, and when a request that fails discards its cookies. Outside a request, `fn` runs each time.
 *
 * @example export const current_board = once(async (id: string) => db.board(id));
 */
export function once<A extends readonly unknown[], R>(fn: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    const context = currentContext();
    if (!context) return fn(...args);
    const node = findNode(context, fn, args);
    node.outcome ??= attempt(() => fn(...args));
    if ("error" in node.outcome) throw node.outcome.error;
    return node.outcome.value as R; // the result of `fn`, above
  };
}

/** Forgets the results of {@link once} in a request, because its state has changed: the next call runs again. */
export function forgetOnce(context: RequestContext): void {
  outcomesByRequest.delete(context);
}

function findNode(context: RequestContext, fn: AnyFunction, args: readonly unknown[]): Outcomes {
  const byFunction = getOrCreate(outcomesByRequest, context, () => new Map<AnyFunction, Outcomes>());
  let node = getOrCreate(byFunction, fn, (): Outcomes => ({}));
  for (const arg of args) {
    node.next ??= new Map();
    node = getOrCreate(node.next, arg, (): Outcomes => ({}));
  }
  return node;
}

function getOrCreate<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  create: () => V,
): V {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = create();
  map.set(key, created);
  return created;
}

function attempt(work: () => unknown): Outcome {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}
