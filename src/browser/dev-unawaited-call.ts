/**
 * Makes the use of a call as a text or a number an error, in development: `"Signed: " + sign(name)`. Without it, the page would
 * show "[object Promise]".
 */
export function rejectUseAsText(call: Promise<unknown>, name: string): void {
  Object.defineProperty(call, Symbol.toPrimitive, {
    value(hint: string) {
      call.catch(() => undefined); // this error is enough
      throw new TypeError(
        `${name}: the call is used as a ${hint === "number" ? "number" : "text"}, but its result has not arrived yet. Await it: ` +
          `await ${name}(…).`,
      );
    },
  });
}
