import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { waitAtMost } from "../../reconnect.ts";
import type { Bus } from "./bus.ts";

/** How long {@link startBus} waits for the server, so that an unreachable one does not delay the start. */
const START_TIMEOUT_MS = 1_000;

/** How long to wait after a failed check. */
const RETRY_DELAY_MS = 5_000;

/** The options of {@link startBus}. */
export interface StartBusOptions {
  readonly log: Logger;
  /** Returns whether the bus is still in use. */
  isInUse(): boolean;
}

/**
 * Checks whether a bus can be used: it connects, and looks whether another application uses its namespace. If the server
 * is unreachable, this resolves after a second, and the check continues in the background.
 *
 * @throws ConfigError if the bus cannot be used. In the background, the error is logged. Every operation rejects with it.
 */
export async function startBus(bus: Bus, options: StartBusOptions): Promise<void> {
  const result = await waitAtMost(checkOnce(bus), START_TIMEOUT_MS, "unreachable" as const);
  if (result instanceof ConfigError) throw result;
  if (result === "unreachable") void checkUntilReachable(bus, options);
}

/** Never rejects. */
async function checkUntilReachable(bus: Bus, { log, isInUse }: StartBusOptions): Promise<void> {
  while (isInUse()) {
    const result = await checkOnce(bus);
    if (result instanceof ConfigError) log.error({}, result.message);
    if (result !== "unreachable") return;
    await pause(RETRY_DELAY_MS, undefined, { ref: false });
  }
}

/** Never rejects. */
async function checkOnce(bus: Bus): Promise<ConfigError | "usable" | "unreachable"> {
  try {
    await bus.position([]);
    return "usable";
  } catch (error) {
    return error instanceof ConfigError ? error : "unreachable"; // the bus logs it, or the first operation rejects with it
  }
}
