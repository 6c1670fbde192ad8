import { type HandlerResponse, jsonResponse, PRIVATE_NO_STORE, runOutsideRequests } from "../http/index.ts";
import type { BusState } from "../live/index.ts";

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
  if (delayMs < MAX_DELAY_MS) return jsonResponse(200, '{"status":"ok"}', PRIVATE_NO_STORE);
  return jsonResponse(503, JSON.stringify({ status: "hanging", event_loop_delay_ms: delayMs }), PRIVATE_NO_STORE);
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
  const json = JSON.stringify(bus === "memory" ? { ready } : { ready, bus });
  return jsonResponse(ready ? 200 : 503, json, PRIVATE_NO_STORE);
}

/** How often the delay is measured. A measurement misses this much of a delay at most. */
const INTERVAL_MS = 100;

/** How long {@link EventLoopDelay.readMaximum} remembers a delay, in seconds. */
const REMEMBERED_SECONDS = 60;

/** One slot for each remembered second, and one for the current second. */
const SLOTS = REMEMBERED_SECONDS + 1;

/**
 * Measures by how much the event loop delays a timer. The first reading starts the measurement, so that it costs nothing
 * where nobody reads it.
 */
export class EventLoopDelay {
  #timer: NodeJS.Timeout | undefined;
  #expectedAtMs = 0;
  /** The longest delay that was measured in each of the last seconds, by the second modulo {@link SLOTS}. */
  readonly #maxima = new Float64Array(SLOTS);
  #currentSecond = 0;

  /** Returns the longest delay of the last second in milliseconds, that of a timer that is late now included. */
  read(): number {
    return this.#longest(1);
  }

  /**
   * Returns the longest delay of the last 60 seconds in milliseconds, that of a timer that is late now included. Reading
   * resets nothing, so that several readers get the same value.
   */
  readMaximum(): number {
    return this.#longest(REMEMBERED_SECONDS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #longest(seconds: number): number {
    this.#timer ??= this.#start();
    const nowMs = performance.now();
    this.#advanceTo(nowMs);
    let longest = Math.max(0, nowMs - this.#expectedAtMs);
    for (let age = 0; age <= seconds; age++) {
      longest = Math.max(longest, this.#maxima[(this.#currentSecond - age + SLOTS) % SLOTS] ?? 0);
    }
    return longest;
  }

  #start(): NodeJS.Timeout {
    const nowMs = performance.now();
    this.#maxima.fill(0);
    this.#currentSecond = Math.floor(nowMs / 1_000);
    this.#expectedAtMs = nowMs + INTERVAL_MS;
    return setInterval(() => this.#measure(), INTERVAL_MS).unref();
  }

  #measure(): void {
    const nowMs = performance.now();
    this.#advanceTo(nowMs);
    const slot = this.#currentSecond % SLOTS;
    this.#maxima[slot] = Math.max(this.#maxima[slot] ?? 0, nowMs - this.#expectedAtMs);
    this.#expectedAtMs = nowMs + INTERVAL_MS;
  }

  /** Empties the slots of the seconds that have begun since the last call. */
  #advanceTo(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    const begun = Math.min(SLOTS, second - this.#currentSecond);
    for (let age = 0; age < begun; age++) this.#maxima[(second - age + SLOTS) % SLOTS] = 0;
    this.#currentSecond = second;
  }
}
