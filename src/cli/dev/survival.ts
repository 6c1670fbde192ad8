import type { ErrorLog } from "../errors/index.ts";
import { explainThrownValue, withUnawaitedFileCall } from "./advice/index.ts";
import { type ChildMessage, STOP } from "./messages.ts";

/** Sends a message to the parent process, if there is one. */
export function notifyParent(message: ChildMessage): void {
  process.send?.(message, undefined, undefined, () => undefined); // the parent may have ended
}

/** Calls `close` and exits with status 0 when this process receives a signal, or the parent stops it or has ended. */
export function stopWithParent(close: () => Promise<void>): void {
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    notifyParent({ type: "tsweb:stopping" });
    await close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
  process.on("disconnect", stop);
  process.on("message", (message) => {
    if (message === STOP) void stop();
  });
  if (process.connected === false) void stop(); // the parent was killed before; `undefined` without a parent
}

/**
 * Prints errors that the application throws outside of requests, and continues. Without listeners, Node would exit, as a
 * built application does after an uncaught exception.
 *
 * @param errors prints them
 * @param root the application's folder
 */
export function surviveErrors(errors: ErrorLog, root: string): void {
  process.on("unhandledRejection", async (error) => {
    const located = await explainThrownValue(await withUnawaitedFileCall(error, root), root);
    errors.print(located, "Unhandled promise rejection. Await the promise, or catch its error:");
  });
  process.on("uncaughtException", (error) => {
    errors.print(
      error,
      "Uncaught exception outside of a request. It would end a built application. Catch it where it is thrown:",
    );
  });
}
