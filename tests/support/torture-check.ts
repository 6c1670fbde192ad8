/**
 * What is wrong with what readers got: compared with what the bus holds, and that with what was published.
 */

/** What may be wrong. */
export type FaultKind =
  /** It is not there, and has to be. */
  | "lost"
  /** It is there more than once. */
  | "twice"
  /** It is there at another place. */
  | "order"
  /** It is there, and nobody published it, or it was published before the reader was let in. */
  | "foreign"
  /** The reader was told that something is missing. */
  | "gap"
  /** The reader was not answered, or not as it has to be. */
  | "answer";

/** One thing that is wrong. */
export interface Fault {
  readonly kind: FaultKind;
  /** Where it was found, and with what message. */
  readonly what: string;
}

/** A message that was published. */
export interface Outcome {
  readonly channel: string;
  readonly by: string;
  readonly text: string;
  /** Whether the one who published it was told that the bus has it; otherwise nobody knows. */
  readonly isTaken: boolean;
}

/**
 * Compares what a reader got of a feed with what the bus holds after the feed's position. Both are texts that
 * are told apart by what they say; in the bus each is there once.
 */
export function faultsOfReading(where: string, expected: readonly string[], got: readonly string[]): Fault[] {
  const faults: Fault[] = [];
  const places = new Map(expected.map((text, at) => [text, at]));
  const seen = new Set<string>();
  let latest = -1;
  for (const text of got) {
    const place = places.get(text);
    if (place === undefined) faults.push(fault("foreign", where, text));
    else if (seen.has(text)) faults.push(fault("twice", where, text));
    else if (place < latest) faults.push(fault("order", where, text));
    seen.add(text);
    latest = Math.max(latest, place ?? -1);
  }
  for (const text of expected) if (!seen.has(text)) faults.push(fault("lost", where, text));
  return faults;
}

/**
 * Compares what the bus holds of a channel with what was published to it: all that it took is there once, what
 * may have been taken at most once, and what each one published in its order.
 */
export function faultsOfBus(channel: string, held: readonly string[], outcomes: readonly Outcome[]): Fault[] {
  const published = new Map(outcomes.map((outcome, at) => [outcome.text, { ...outcome, at }]));
  const faults: Fault[] = [];
  const seen = new Set<string>();
  const latest = new Map<string, number>();
  const where = `the bus, ${channel}`;
  for (const text of held) {
    const outcome = published.get(text);
    if (!outcome || outcome.channel !== channel) {
      faults.push(fault("foreign", where, text));
      continue;
    }
    if (seen.has(text)) faults.push(fault("twice", where, text));
    else if (outcome.at < (latest.get(outcome.by) ?? -1)) faults.push(fault("order", where, text));
    seen.add(text);
    latest.set(outcome.by, Math.max(latest.get(outcome.by) ?? -1, outcome.at));
  }
  for (const { text, isTaken } of outcomes) {
    if (isTaken && !seen.has(text)) faults.push(fault("lost", where, text));
  }
  return faults;
}

function fault(kind: FaultKind, where: string, text: string): Fault {
  return { kind, what: `${where}: ${text.slice(0, 40)}` };
}
