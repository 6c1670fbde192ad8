/**
 * Compares the messages that readers received with those that the bus stores, and the stored messages with the published
 * ones.
 */

/** A kind of fault. */
export type FaultKind =
  /** A message is missing. */
  | "lost"
  /** A message was delivered or stored more than once. */
  | "duplicate"
  /** A message was delivered or stored out of order. */
  | "order"
  /** A message was not published, or was published before the reader's feed was issued. */
  | "unexpected"
  /** The reader received a gap. */
  | "gap"
  /** A request of the reader got no response, or an invalid one. */
  | "response";

/** A fault of delivery. */
export interface DeliveryFault {
  readonly kind: FaultKind;
  /** The reader or bus, and the message. */
  readonly description: string;
}

/** A message that was published, and whether the server acknowledged it. */
export interface PublishOutcome {
  readonly channel: string;
  readonly publisher: string;
  readonly text: string;
  /** Whether `publish` resolved. If not, it is unknown whether the bus has stored the message. */
  readonly isAcknowledged: boolean;
}

/**
 * Compares the messages that a reader received of a feed with those that the bus stores after the feed's position.
 *
 * @param where the reader and the channel, for the faults
 * @param expected texts, each once
 */
export function findReaderFaults(
  where: string,
  expected: readonly string[],
  received: readonly string[],
): DeliveryFault[] {
  const faults: DeliveryFault[] = [];
  const indexes = new Map(expected.map((text, index) => [text, index]));
  const checked = new Set<string>();
  let lastIndex = -1;
  for (const text of received) {
    const index = indexes.get(text);
    if (index === undefined) faults.push(createFault("unexpected", where, text));
    else if (checked.has(text)) faults.push(createFault("duplicate", where, text));
    else if (index < lastIndex) faults.push(createFault("order", where, text));
    checked.add(text);
    lastIndex = Math.max(lastIndex, index ?? -1);
  }
  for (const text of expected) if (!checked.has(text)) faults.push(createFault("lost", where, text));
  return faults;
}

/**
 * Compares the messages that the bus stores of a channel with those that were published: acknowledged messages are
 * stored once, others at most once, and the messages of each publisher are in order.
 */
export function findBusFaults(
  channel: string,
  stored: readonly string[],
  outcomes: readonly PublishOutcome[],
): DeliveryFault[] {
  const published = new Map(outcomes.map((outcome, index) => [outcome.text, { ...outcome, index }]));
  const faults: DeliveryFault[] = [];
  const checked = new Set<string>();
  const lastIndexes = new Map<string, number>();
  const where = `the bus, ${channel}`;
  for (const text of stored) {
    const outcome = published.get(text);
    if (!outcome || outcome.channel !== channel) {
      faults.push(createFault("unexpected", where, text));
      continue;
    }
    const { publisher, index } = outcome;
    const lastIndex = lastIndexes.get(publisher) ?? -1;
    if (checked.has(text)) faults.push(createFault("duplicate", where, text));
    else if (index < lastIndex) faults.push(createFault("order", where, text));
    checked.add(text);
    lastIndexes.set(publisher, Math.max(lastIndex, index));
  }
  for (const { text, isAcknowledged } of outcomes) {
    if (isAcknowledged && !checked.has(text)) faults.push(createFault("lost", where, text));
  }
  return faults;
}

function createFault(kind: FaultKind, where: string, text: string): DeliveryFault {
  return { kind, description: `${where}: ${text.slice(0, 40)}` };
}
