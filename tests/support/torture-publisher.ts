/**
 * One who publishes: message after message to channels of its choice, through one server, whatever becomes of it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { callFunction } from "./torture-call.ts";
import type { Outcome } from "./torture-check.ts";
import type { Chance } from "./torture-random.ts";

/** Who publishes, where, and how much. */
export interface PublisherPlan {
  readonly name: string;
  readonly channels: readonly string[];
  /** The server that it calls. */
  readonly server: string;
  readonly messages: number;
  /** How long it waits from call to call, on average. */
  readonly pauseMs: number;
  readonly chance: Chance;
  /** Is told how many more have been published, and says when to go on. */
  readonly onPublished: (count: number) => Promise<void>;
}

/** How long it waits after a call that failed. */
const REST_MS = 150;

/**
 * Publishes: one message at a call, or some together.
 *
 * @returns what became of each, in the order of the calls
 */
export async function publishAll(plan: PublisherPlan): Promise<Outcome[]> {
  const { name, channels, chance, messages, pauseMs, server } = plan;
  const outcomes: Outcome[] = [];
  for (let n = 0; n < messages; ) {
    const [channel = ""] = chance.some(channels, 1);
    const count = Math.min(messages - n, chance.isOnce(0.3) ? chance.between(2, 20) : 1);
    const texts = Array.from({ length: count }, () => textOf(name, n++, chance));
    const taken = await publish(server, channel, texts);
    if (!taken.includes(true)) await pause(REST_MS); // it is down: not all that is left goes there meanwhile
    outcomes.push(...texts.map((text, at) => ({ channel, by: name, text, isTaken: taken[at] === true })));
    await plan.onPublished(count);
    await pause(chance.next() * 2 * pauseMs);
  }
  return outcomes;
}

/**
 * Publishes messages in their order by one call.
 *
 * @returns for each, whether the bus has it; `false` where nobody knows
 */
export function publish(server: string, channel: string, texts: readonly string[]): Promise<boolean[]> {
  return callFunction<boolean[]>(server, "say", { room: channel, texts }).catch(() => texts.map(() => false));
}

/** Mostly short; some are longer than what goes over a network at once. */
function textOf(name: string, n: number, chance: Chance): string {
  const length = chance.isOnce(0.05) ? chance.between(1_000, 20_000) : chance.between(0, 100);
  return `${name}:${n}:${"é-".repeat(length / 2)}`;
}
