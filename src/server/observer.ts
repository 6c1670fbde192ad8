import type { AppLog } from "../logging/index.ts";
import type { CallSettings } from "../rpc/index.ts";
import type { RequestListener } from "./observe-request.ts";

/**
 * Receives what an application does, for the panel of the development server: its requests, and also the arguments of
 * functions, errors and messages. Its methods must not throw. A built application has no observer.
 */
export interface Observer extends RequestListener {
  /** Returns server functions that do the same as these, and whose runs are observed. */
  observeFunctions(functions: CallSettings["functions"]): CallSettings["functions"];
  /** Returns a log that writes to this one, and whose errors are observed. */
  observeLog(log: AppLog): AppLog;
  /** Called when a message was published. `json` is its data. */
  published(channel: string, json: string): void;
}
