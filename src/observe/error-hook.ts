import { currentContext, type RequestContext } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { type RequestKind, requestTarget, type TargetSite } from "./router.ts";

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

/** Calls the function `on_error` of an application. */
export class ErrorHook {
  readonly #onError: OnError;
  readonly #log: Logger;
  /** Returns the site once it was created. */
  readonly #site: () => TargetSite;
  /** The calls that have not ended. */
  readonly #calls = new Set<Promise<void>>();

  /** @param log receives what the function itself throws */
  constructor(onError: OnError, { log, site }: { readonly log: Logger; readonly site: () => TargetSite }) {
    this.#onError = onError;
    this.#log = log;
    this.#site = site;
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
    const { kind, name } = requestTarget(context.inbound, this.#site());
    // What has no target is answered with the error page.
    return {
      kind: kind === "other" || kind === "health" ? "page" : kind,
      request: { method, name, path },
      id: context.id,
    };
  }
}

/** How long `on_start` may run until that is logged, in milliseconds. Nothing is served meanwhile. */
const SLOW_START_MS = 10_000;

/**
 * Returns a function that runs `on_start` once, however often it is called, and resolves when it has ended. After a failure,
 * the next call runs it again.
 *
 * @throws (rejects) Error with the error of `on_start` as its cause
 */
export function createStartHook(onStart: (() => unknown) | undefined, log: Logger): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = async () => {
    const slow = setTimeout(() => log.warn({ seconds: SLOW_START_MS / 1000 }, SLOW_START), SLOW_START_MS);
    try {
      await onStart?.();
    } catch (cause) {
      throw new Error("on_start of new App failed, so that the application does not start.", { cause });
    } finally {
      clearTimeout(slow);
    }
  };
  return () => {
    running ??= run().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}

const SLOW_START =
  "on_start of new App has not ended yet. No request is served until it has. Do not await work that runs for as long as the " +
  "application, such as a loop";

/** How long an application waits for what it has to complete before the process ends. */
const STOP_TIMEOUT_MS = 2_000;

/** What an application has to complete before the process ends. */
export interface LastWork {
  /** The subject of the log line if it fails: `on_stop of new App`. */
  readonly name: string;
  readonly run: () => unknown;
}

/**
 * Runs the last work of an application, step by step, for at most two seconds in all. Never rejects: what fails, or takes
 * longer, is logged.
 *
 * @param steps what is done one after the other; the work of one step runs at the same time
 */
export async function runLastWork(steps: readonly (readonly LastWork[])[], log: Logger): Promise<void> {
  const running = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_TIMEOUT_MS);
  });
  const runWork = async ({ name, run }: LastWork) => {
    running.add(name);
    try {
      await run();
    } catch (err) {
      log.error({ err }, `${name} failed`);
    }
    running.delete(name);
  };
  for (const step of steps) {
    const done = Promise.all(step.map(runWork)).then(() => true);
    if (!(await Promise.race([done, timeout]))) break;
  }
  clearTimeout(timer);
  for (const name of running) {
    log.warn(
      { seconds: STOP_TIMEOUT_MS / 1000 },
      `${name} has not ended in time. The application does not wait for it`,
    );
  }
}
