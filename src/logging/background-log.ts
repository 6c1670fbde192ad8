import { AsyncResource } from "node:async_hooks";
import type { Logger } from "./logger.ts";

/** The asynchronous context in which this module was loaded: that of no request. */
const background = new AsyncResource("tsweb.backgroundLog");

/**
 * Returns a log whose lines belong to no request, for the state of what all requests share, such as a connection. Otherwise
 * they would have the `trace_id` of the request that happened to notice the change, or that happened to connect first.
 */
export function backgroundLog(log: Logger): Logger {
  const write = (level: keyof Logger) => (fields: object, message: string) =>
    background.runInAsyncScope(() => log[level](fields, message));
  return { info: write("info"), warn: write("warn"), error: write("error") };
}
