import { isPromise, type OutboundResponse, type RequestContext } from "../http/index.ts";
import { observeEnd } from "./observed-body.ts";
import { type RequestTarget, requestTarget, type TargetSite } from "./request-target.ts";

/** A request whose response has ended. */
export interface HandledRequest {
  readonly context: RequestContext;
  readonly target: RequestTarget;
  readonly status: number;
  /** The time until the response was handed to the host, or until the end of a stream, in milliseconds. */
  readonly durationMs: number;
  /** The bytes of the body that were sent, or handed to the host. */
  readonly bytes: number;
}

/** Observes requests. Its methods must not throw. */
export interface RequestListener {
  /** Called when a request has arrived. */
  started?(target: RequestTarget): void;
  /** Called when its response has ended. */
  ended(request: HandledRequest): void;
}

type Handled = OutboundResponse | Response;

/**
 * Handles a request, and calls functions when its response has ended: the one place that the access log and metrics learn
 * of requests from. Health checks and requests for the metrics are not reported.
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
  for (const listener of listeners) listener.started?.(target);
  const observe = (response: Handled) =>
    observeEnd(response, (bytes) => {
      const durationMs = performance.now() - startMs;
      for (const listener of listeners) listener.ended({ context, target, status: response.status, durationMs, bytes });
    });
  const response = handle();
  return isPromise(response) ? response.then(observe) : observe(response);
}
