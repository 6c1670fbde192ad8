import { type HandlerResponse, jsonResponse, runOutsideRequests } from "../http/index.ts";
import type { BusState } from "../live/index.ts";
import type { EventLoopDelay } from "./event-loop-delay.ts";

/** The event-loop delay from which a process counts as hanging, in milliseconds. */
const MAX_DELAY_MS = 5_000;

/** What the health checks report. */
export interface Health {
  readonly delay: EventLoopDelay;
  /** Whether the start was called and has not completed. */
  isStarting: boolean;
}

/**
 * Returns the response of `/healthz`: 503 if the event loop is so late that the process should be replaced.
 *
 * @see docs/protocol.md 12.1
 */
export function respondToHealthCheck({ delay }: Health): HandlerResponse {
  const delayMs = Math.round(runOutsideRequests(() => delay.read()));
  if (delayMs < MAX_DELAY_MS) return jsonResponse(200, '{"status":"ok"}');
  return jsonResponse(503, JSON.stringify({ status: "hanging", event_loop_delay_ms: delayMs }));
}

/** What the readiness depends on besides the start. */
export interface Readiness {
  readonly draining: boolean;
  readonly bus: BusState;
  /** Whether the revocations of sessions were read: before that, no session can be accepted. */
  readonly hasRevocations: boolean;
}

/**
 * Returns the response of `/readyz`: 200 from the end of the start until the process is stopping. A shared bus is reported,
 * and never changes the status: its failure would take every process out of service at once.
 *
 * @see docs/protocol.md 12.1
 */
export function respondToReadinessCheck(
  { isStarting }: Health,
  { draining, bus, hasRevocations }: Readiness,
): HandlerResponse {
  const ready = !draining && !isStarting && hasRevocations;
  return jsonResponse(ready ? 200 : 503, JSON.stringify(bus === "memory" ? { ready } : { ready, bus }));
}
