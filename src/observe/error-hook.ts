import { currentContext, type InboundRequest, type RequestContext } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import type { RequestKind, RequestTarget } from "./observe-request.ts";

/**
 * What was running when an unexpected error was thrown. `background`: no request, for example a timer, or what a request has
 * started and not awaited, after it has ended.
 */
export type ErrorKind = Exclude<RequestKind, "health" | "other"> | "background";

/** The request during which an unexpected error was thrown. It has no query, no header and no body. */
export interface FailedRequest {
  readonly method: string;
  /** The name of the function, or the path of the page or route as it is declared; `null` if there is none. */
  readonly name: string | null;
  /** The path of the URL, without the query. */
  readonly path: string;
}

/** What is known about an unexpected error. */
export interface ErrorDetails {
  readonly kind: ErrorKind;
  /** The request, also one that has ended; `null` in the background of no request. */
  readonly request: FailedRequest | null;
  /** The request id, which the log and the client have too; `null` without a request. */
  readonly id: string | null;
}

/**
 * Receives each unexpected error once, for example to send it to a service. Expected ones (`ValueError`, `RPCError`) are
 * not passed to it. Requests do not wait for it.
 */
export type OnError = (error: unknown, details: ErrorDetails) => unknown;

/**
 * Returns a function that passes each unexpected error on once, with its request: some are logged twice, for example by a page
 * and by its layout.
 */
export function reportOnce(
  report: (error: unknown, context: RequestContext | undefined) => void,
): (error: unknown) => void {
  const reported = new WeakMap<RequestContext, Set<unknown>>();
  return (error) => {
    const context = currentContext();
    if (context) {
      const errors = reported.get(context) ?? new Set();
      if (errors.has(error)) return;
      reported.set(context, errors.add(error));
    }
    report(error, context);
  };
}

type TargetReader = (inbound: InboundRequest) => RequestTarget;

/** Calls the function `on_error` of an application. */
export class ErrorHook {
  readonly #onError: OnError;
  readonly #log: Logger;
  /** Returns what a request is for. */
  readonly #targetOf: TargetReader;
  /** The calls that have not ended. */
  readonly #calls = new Set<Promise<void>>();

  /** @param log receives what the function itself throws */
  constructor(onError: OnError, { log, targetOf }: { readonly log: Logger; readonly targetOf: TargetReader }) {
    this.#onError = onError;
    this.#log = log;
    this.#targetOf = targetOf;
  }

  /**
   * Reports an error after the current work. Never throws.
   *
   * @param context the request; `undefined` in the background
   */
  report(error: unknown, context: RequestContext | undefined): void {
    // After the response was written, so that its client does not wait for what the function does.
    const isBackground = context?.hasEnded ?? true;
    const call = new Promise(setImmediate).then(() =>
      this.#call(error, { ...this.#detailsOf(context), ...(isBackground ? { kind: "background" } : {}) }),
    );
    this.#calls.add(call);
    void call.finally(() => this.#calls.delete(call)); // never rejects
  }

  /** Resolves when the function has ended for each error that was reported so far. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#calls);
  }

  /** Reports an error that ends the process. Resolves when the function has ended. Never rejects. */
  reportFatal(error: unknown): Promise<void> {
    return this.#call(error, this.#detailsOf(undefined));
  }

  async #call(error: unknown, details: ErrorDetails): Promise<void> {
    try {
      await this.#onError(error, details);
    } catch (err) {
      this.#log.error({ ...(details.id === null ? {} : { id: details.id }), err }, "on_error of new App failed");
    }
  }

  #detailsOf(context: RequestContext | undefined): ErrorDetails {
    if (!context) return { kind: "background", request: null, id: null };
    const { method, pathname: path } = context.inbound;
    const { kind, name } = this.#targetOf(context.inbound);
    // What has no target is answered with the error page.
    return {
      kind: kind === "other" || kind === "health" ? "page" : kind,
      request: { method, name, path },
      id: context.id,
    };
  }
}
