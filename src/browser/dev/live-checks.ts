/** The checks of `live` and `optimistic` in development: bundlers remove them from production. */
import { reportWarning } from "./report.ts";

/**
 * Freezes the value of a query, at any depth, while it is shown without drafts: all components that show the query share it, and a
 * change of it renders none of them. A change is then an error at its place.
 */
export function freezeShownValue({ shown, value }: { readonly shown: unknown; readonly value: unknown }): void {
  if (shown === value) freeze(value); // a draft may be an object of the application, which it goes on changing
}

function freeze(value: unknown): void {
  if (Object.isFrozen(value)) return; // so are texts and numbers, and the rows that a patch has kept
  Object.freeze(value);
  for (const each of Object.values(value as object)) freeze(each); // a value of the server is JSON
}

/**
 * Returns the function of `optimistic`, which also reports that it has changed nothing, if its result is what it seems to mean: a new
 * list or object, or a promise. Call it while `optimistic` is called, so that the warning has that location.
 */
export function checkedChange<Value>(change: (copy: Value) => unknown): (copy: Value) => void {
  const warning = new Error();
  return (copy) => {
    const before = JSON.stringify(copy);
    const result = change(copy);
    if (JSON.stringify(copy) !== before) return;
    const advice = result instanceof Promise ? ASYNC_ADVICE : resultAdvice(result, copy, before);
    if (advice) reportWarning(Object.assign(warning, { message: advice }));
  };
}

const ASYNC_ADVICE =
  "The function that changes the value for optimistic() is async and has changed nothing before its first `await`, so nothing is " +
  "shown. Change the value at once, and call the server in the third parameter: optimistic(list, (cards) => cards.push(card), " +
  "() => add(card)).";

/** Returns what to write in place of a result that is meant as the new value; `undefined` for any other, such as that of `splice`. */
function resultAdvice(result: unknown, copy: unknown, before: string): string | undefined {
  const isList = Array.isArray(copy);
  if (typeof result !== "object" || result === null || Array.isArray(result) !== isList) return undefined;
  if (Object.keys(result).length === 0 || JSON.stringify(result) === before) return undefined;
  const [what, examples] = isList
    ? [
        "list",
        "`(cards) => cards.push(card)`, or `(cards) => cards.splice(0, cards.length, ...rows)` to replace all rows",
      ]
    : ["object", "`(game) => { game.title = title; }`, or `(game) => Object.assign(game, changes)`"];
  return (
    `The function that changes the value for optimistic() has returned a new ${what}, and has not changed the one that it ` +
    `received. Its result is ignored, so nothing is shown. Change the ${what} that it receives: ${examples}.`
  );
}
