/** Reports mistakes of the developer that the code around them catches. In development only: bundlers remove it from production. */
import { reportWarning } from "./dev/report.ts";

/** How long an error may take to become an uncaught one: rejections that nothing awaits are reported a moment later. */
const DELAY_MS = 500;

/** The errors that were thrown and are not uncaught so far. */
let pending: Map<unknown, Error> | undefined;

/**
 * Returns an error about a mistake in the code, to be thrown. If a `catch` of the application swallows it, it is shown in the
 * console of the browser and in the terminal, once. An uncaught one is shown as all errors are.
 */
export function misuse<E extends Error>(error: E): E {
  if (typeof globalThis.addEventListener !== "function") return error; // the server logs it
  const errors = pending ?? observeUncaughtErrors();
  errors.set(error, error);
  setTimeout(() => {
    if (errors.delete(error)) reportWarning(error);
  }, DELAY_MS);
  return error;
}

/** Runs a check, and treats its error as {@link misuse} does. */
export function checkMisuse(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof Error ? misuse(error) : error;
  }
}

function observeUncaughtErrors(): Map<unknown, Error> {
  const errors = new Map<unknown, Error>();
  addEventListener("error", ({ error }) => void errors.delete(error));
  addEventListener("unhandledrejection", ({ reason }) => void errors.delete(reason));
  pending = errors;
  return errors;
}
