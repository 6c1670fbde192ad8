/**
 * A publisher of the torture run: publishes messages to random channels through one server, which may be down for a time.
 */
import { setTimeout as pause } from "node:timers/promises";
import { callFunction } from "./call-function.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { PublishOutcome } from "./torture-check.ts";

/** What a publisher publishes. */
export interface PublisherOptions {
  readonly name: string;
  readonly channels: readonly string[];
  /** The origin of the server that it calls. */
  readonly server: string;
  /** The number of messages. */
  readonly messages: number;
  /** The average pause between two calls. */
  readonly pauseMs: number;
  readonly random: SeededRandom;
  /** Called after each call with the number of its messages. The publisher waits for the promise. */
  readonly onPublished: (count: number) => Promise<void>;
}

/** The pause after a call that failed, so that not all messages are published to a server that is down. */
const FAILURE_PAUSE_MS = 150;

/**
 * Publishes all messages: one, or several together, in a call.
 *
 * @returns the outcome of each message, in the order of the calls
 */
export async function publishAll(options: PublisherOptions): Promise<PublishOutcome[]> {
  const { name, channels, random, messages, pauseMs, server, onPublished } = options;
  const outcomes: PublishOutcome[] = [];
  for (let n = 0; n < messages; ) {
    const [channel = ""] = random.sample(channels, 1);
    const count = Math.min(messages - n, random.chance(0.3) ? random.integer(2, 20) : 1);
    const texts = Array.from({ length: count }, () => createText(name, n++, random));
    const acknowledged = await publishTexts(server, channel, texts);
    if (!acknowledged.includes(true)) await pause(FAILURE_PAUSE_MS);
    outcomes.push(
      ...texts.map((text, i) => ({ channel, publisher: name, text, isAcknowledged: acknowledged[i] === true })),
    );
    await onPublished(count);
    await pause(random.next() * 2 * pauseMs);
  }
  return outcomes;
}

/**
 * Publishes messages in their order by one call of the server function `publish_texts`.
 *
 * @returns for each message, whether the server acknowledged it; `false` if it is unknown
 */
export function publishTexts(server: string, channel: string, texts: readonly string[]): Promise<boolean[]> {
  return callFunction<boolean[]>(server, "publish_texts", { room: channel, texts }).catch(() => texts.map(() => false));
}

/** Returns a text, mostly a short one, sometimes one that is longer than a network packet. */
function createText(name: string, n: number, random: SeededRandom): string {
  const length = random.chance(0.05) ? random.integer(1_000, 20_000) : random.integer(0, 100);
  return `${name}:${n}:${"é-".repeat(length / 2)}`;
}
