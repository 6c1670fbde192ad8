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

/** Called when a response has ended. It must not throw. */
export type OnHandled = (request: HandledRequest) => void;

type Handled = OutboundResponse | Response;

/**
 * Handles a request, and calls functions when its response has ended: the one place that the access log and metrics learn
 * of requests from. Health checks are not reported.
 *
 * @param handle handles the request; never throws and never rejects
 */
export function observeRequest(
  context: RequestContext,
  { site, listeners }: { readonly site: TargetSite; readonly listeners: readonly OnHandled[] },
  handle: () => Handled | Promise<Handled>,
): Handled | Promise<Handled> {
  const startMs = performance.now();
  const target = requestTarget(context.inbound, site);
  if (target.kind === "health") return handle();
  const observe = (response: Handled) =>
    observeEnd(response, (bytes) => {
      const durationMs = performance.now() - startMs;
      for (const listener of listeners) listener({ context, target, status: response.status, durationMs, bytes });
    });
  const response = handle();
  return isPromise(response) ? response.then(observe) : observe(response);
}
