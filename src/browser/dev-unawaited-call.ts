import { misuse } from "./dev-misuse.ts";

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
