/**
 * Reports mistakes of the developer that the code around them catches, and where calls were made. In development only: bundlers
 * remove it from production.
 */
import { reportWarning } from "./report.ts";

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

/**
 * Runs a call in development. Its error has the lines of the stack at which the call was made, so that an error that
 * nothing catches has a location in the application: its own stack ends in the code that received the response.
 */
export async function withCallSite<T>(run: () => Promise<T>): Promise<T> {
  const { stack = "" } = new Error();
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error && !(error instanceof DOMException)) addFrames(error, stack);
    throw error;
  }
}

/** Adds the frames of a stack to an error, below its own. */
function addFrames(error: Error, stack: string): void {
  const own = error.stack ?? "";
  const frames = stack.split("\n").filter((line) => /:\d+:\d+\)?$/.test(line) && !own.includes(line.trim()));
  error.stack = [own, ...frames].join("\n");
}

/**
 * Makes the use of a call, or of a stream, as a text or a number an error, in development: `"Signed: " + sign(name)`. Without it,
 * the page would show "[object Promise]".
 *
 * @param advice what to write in place of it
 */
export function rejectUseAsText(call: object, name: string, advice: string): void {
  Object.defineProperty(call, Symbol.toPrimitive, {
    value(hint: string) {
      if (call instanceof Promise) call.catch(() => undefined); // this error is enough
      const used = hint === "number" ? "a number" : "a text";
      throw misuse(
        new TypeError(`${name}: the call is used as ${used}, but its result has not arrived yet. ${advice}`),
      );
    },
  });
}
