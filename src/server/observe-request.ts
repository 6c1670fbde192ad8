import { isPromise, type OutboundResponse, type RequestContext } from "../http/index.ts";
import { observeEnd } from "./observed-body.ts";
import { type RequestTarget, requestTarget, type TargetSite } from "./request-target.ts";

/** A request that is observed. */
export interface ObservedRequest {
  readonly context: RequestContext;
  readonly target: RequestTarget;
}

/** What an observer reads of a response. */
export type ObservedResponse = Pick<OutboundResponse | Response, "status" | "body">;

/** A request whose response has ended. */
export interface HandledRequest extends ObservedRequest {
  readonly status: number;
  /** The time until the response was handed to the host, or until the end of a stream, in milliseconds. */
  readonly durationMs: number;
  /** The bytes of the body that were sent, or handed to the host. */
  readonly bytes: number;
}

/** Observes requests. Its methods must not throw. */
export interface RequestListener {
  /** Called when a request has arrived, before anything of it runs. */
  started?(request: ObservedRequest): void;
  /** Called with its response, before it is sent. */
  responded?(request: ObservedRequest, response: ObservedResponse): void;
  /** Called when its response has ended. */
  ended(request: HandledRequest): void;
}

/**
 * The listeners of the requests of an application: the access log, metrics, traces, and the panel of the development server.
 * They change while it runs: the panel is opened and closed.
 */
export class RequestListeners {
  #permanent: readonly RequestListener[];
  #development: RequestListener | undefined;
  /** `undefined` without any, so that requests then cost one check. */
  current: readonly RequestListener[] | undefined;

  constructor(permanent: readonly RequestListener[] = []) {
    this.#permanent = permanent;
    this.#update();
  }

  /** Adds a listener of the requests that arrive from now on. */
  add(listener: RequestListener): void {
    this.#permanent = [...this.#permanent, listener];
    this.#update();
  }

  /** Sets the listener of the development server; `undefined` removes it. */
  setDevelopment(listener: RequestListener | undefined): void {
    this.#development = listener;
    this.#update();
  }

  #update(): void {
    const all = this.#development ? [...this.#permanent, this.#development] : this.#permanent;
    this.current = all.length > 0 ? all : undefined;
  }
}

type Handled = OutboundResponse | Response;

/**
 * Handles a request, and calls the listeners: the one place that the access log, metrics, traces and the panel learn of
 * requests from. Health checks and requests for the metrics are not reported.
 *
 * @param handle handles the request; never throws and never rejects
 */
export function observeRequest(
  context: RequestContext,
  { site, listeners }: { readonly site: TargetSite; readonly listeners: readonly RequestListener[] },
  handle: () => Handled | Promise<Handled>,
): Handled | Promise<Handled> {
  const startMs = performance.now();
  const target = requestTarget(context.inbound, site);
  if (target.kind === "health") return handle();
  const request: ObservedRequest = { context, target };
  for (const listener of listeners) listener.started?.(request);
  const observe = (response: Handled) => {
    for (const listener of listeners) listener.responded?.(request, response);
    return observeEnd(response, (bytes) => {
      const durationMs = performance.now() - startMs;
      for (const listener of listeners) listener.ended({ context, target, status: response.status, durationMs, bytes });
    });
  };
  const response = handle();
  return isPromise(response) ? response.then(observe) : observe(response);
}
