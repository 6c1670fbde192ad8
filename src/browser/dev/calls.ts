/** What calls do in development in addition: bundlers remove it from production. */
import { misuse } from "./report.ts";

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
