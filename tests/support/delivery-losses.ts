/** Checks what listeners have received against what was acknowledged: "complete, or told". */

/** A message that was published: the `n`th one of its publisher. */
export interface PublishedMessage {
  readonly publisher: string;
  readonly n: number;
  readonly isAcknowledged: boolean;
}

/** What a listener has received, in order. */
export interface Received {
  readonly messages: readonly { readonly publisher: string; readonly n: number }[];
  /** For each gap, the number of messages before it. */
  readonly gapIndexes: readonly number[];
}

/** What a listener has missed. */
export interface Losses {
  /** The number of acknowledged messages that it has not received, each in a gap. */
  readonly inGaps: number;
  /** The acknowledged messages that it has not received, without a gap between its neighbours. */
  readonly silent: readonly string[];
  /** The messages that it has received twice, or before an earlier one of the same publisher. */
  readonly disordered: readonly string[];
}

/**
 * Compares the messages of one channel. A message that is missing was lost in a gap if there is one between the message
 * of the same publisher before it and the one after it.
 */
export function findLosses(published: readonly PublishedMessage[], { messages, gapIndexes }: Received): Losses {
  const disordered: string[] = [];
  const indexes = new Map<string, Map<number, number>>();
  const last = new Map<string, number>();
  for (const [index, { publisher, n }] of messages.entries()) {
    const own = indexes.get(publisher) ?? new Map<number, number>();
    const previous = last.get(publisher) ?? -1;
    if (n <= previous) disordered.push(`${publisher}:${n}`);
    last.set(publisher, Math.max(n, previous));
    indexes.set(publisher, own.set(n, index));
  }
  const silent: string[] = [];
  let inGaps = 0;
  for (const { publisher, n, isAcknowledged } of published) {
    const own = indexes.get(publisher) ?? new Map<number, number>();
    if (!isAcknowledged || own.has(n)) continue;
    const before = Math.max(-1, ...[...own].filter(([number]) => number < n).map(([, index]) => index));
    const after = Math.min(messages.length, ...[...own].filter(([number]) => number > n).map(([, index]) => index));
    if (gapIndexes.some((index) => index > before && index <= after)) inGaps++;
    else silent.push(`${publisher}:${n}`);
  }
  return { inGaps, silent, disordered };
}
