/** The checks of `on_mount` and `on_unmount` in development: bundlers remove them from production. */
import { reportWarning } from "./dev/report.ts";

/** @throws TypeError if the argument is no function, as when it was called already */
export function checkCallback(caller: "on_mount" | "on_unmount", fn: unknown): void {
  if (typeof fn === "function") return;
  const received = fn instanceof Promise ? "a promise" : fn === null ? "null" : `a value of the type ${typeof fn}`;
  throw new TypeError(
    `${caller}() takes a function, and received ${received}. Pass the function without calling it: \`${caller}(start)\`, ` +
      `or \`${caller}(() => start())\`.`,
  );
}

/**
 * Returns a function that reports an async function of `on_mount` whose promise has a function as its result, which nothing
 * would call. It is created while `on_mount` is called, so that the warning has that location.
 */
export function asyncCleanupCheck(): (result: unknown) => void {
  const warning = new Error(
    "The function of on_mount is async and returns a function, which is never called: on_mount does not await the promise. " +
      "Stop what was started in a function that the component passes to on_unmount, or return the function from one that is " +
      "not async.",
  );
  return (result) => {
    if (!(result instanceof Promise)) return;
    // A rejection is one of the new promise, and stays an uncaught error of the page.
    void result.then((cleanup) => {
      if (typeof cleanup === "function") reportWarning(warning);
    });
  };
}
