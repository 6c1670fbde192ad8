import type { OutboundResponse, RequestContext } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import type { CallSettings } from "../rpc/index.ts";
import type { Router } from "./router.ts";

/** The data of an application with which an observer finds what a request is for. */
export interface ObservedSite {
  /** The path below which the application is served; empty for the root. */
  readonly base: string;
  readonly router: Router;
}

/** What an observer reads of a response. */
export type ObservedResponse = Pick<OutboundResponse | Response, "status" | "body">;

/**
 * Receives what an application does, for the panel of the development server. Its methods must not throw. A built
 * application has no observer.
 */
export interface Observer {
  /** Called when a request has arrived. Returns a function that is called with its response, before it is sent. */
  requestStarted(context: RequestContext, site: ObservedSite): (response: ObservedResponse) => void;
  /** Returns server functions that do the same as these, and whose runs are observed. */
  observeFunctions(functions: CallSettings["functions"]): CallSettings["functions"];
  /** Returns a log that writes to this one, and whose errors are observed. */
  observeLog(log: AppLog): AppLog;
  /** Called when a message was published. `json` is its data. */
  published(channel: string, json: string): void;
}
