/**
 * The torture run: publishers publish and readers read, while readers are disconnected repeatedly, bus, servers and proxy are
 * killed, and the bus is frozen. Afterwards, the messages that each reader received are compared with those that the bus stores.
 */
import { setTimeout as pause } from "node:timers/promises";
import { SeededRandom } from "./seeded-random.ts";
import type { StoredMessages } from "./stored-messages.ts";
import { type DeliveryFault, findBusFaults, findReaderFaults, type PublishOutcome } from "./torture-check.ts";
import { publishAll, publishTexts } from "./torture-publisher.ts";
import { type RequestCounts, TortureReader } from "./torture-reader.ts";

/** The size of a run. */
export interface TortureSize {
  readonly channels: number;
  readonly messages: number;
  readonly readers: number;
  readonly publishers: number;
  /** The average pause of a publisher between two calls. */
  readonly pauseMs: number;
  /** The range of the time after which a reader aborts a connection. */
  readonly connectionMs: readonly [min: number, max: number];
  /**
   * How many accepted requests the first half of the readers has on average by the end of the run. Publishers wait for
   * them, so that readers connect often enough while messages are published.
   */
  readonly minRequestsPerReader: number;
}

/** Kills a server during a run, and restarts it. */
export interface FaultInjection {
  /** When: after this share of the messages, from 0 to 1. */
  readonly at: number;
  readonly inject: (random: SeededRandom) => Promise<void>;
}

/** The servers of a run. */
export interface TortureEnvironment {
  /** The origin that readers use. */
  readonly origin: string;
  /** The origins that publishers use, in turn. */
  readonly servers: readonly string[];
  readonly faultInjections: readonly FaultInjection[];
  readonly readStoredMessages: (channels: readonly string[]) => Promise<StoredMessages>;
  /** Changes the cursors that readers send. The tests of the torture run simulate faulty clients with it. */
  readonly changeCursor?: (cursor: string) => string;
}

/** The result of a run. */
export interface TortureResult extends RequestCounts {
  readonly faults: readonly DeliveryFault[];
  readonly published: number;
  /** The number of messages of which it is unknown whether the bus has stored them. */
  readonly unknown: number;
  /** The number of messages that all readers received together. */
  readonly delivered: number;
}

/** How long the readers may receive nothing after everything has been published. Then they are stopped. */
const IDLE_TIMEOUT_MS = 30_000;

/** Runs the torture run. The seed determines all random choices, but not the order in which they take effect. */
export async function torture(
  size: TortureSize,
  environment: TortureEnvironment,
  seed: number,
): Promise<TortureResult> {
  const random = new SeededRandom(seed);
  const channels = Array.from({ length: size.channels }, (_, n) => `room:${n}`);
  const readers = createReaders(size, environment, { channels, random });
  let publishedCount = 0;
  const untilPublished = async (share: number) => {
    while (publishedCount < share * size.messages) await pause(5);
  };

  const firstReaders = readers.slice(0, Math.ceil(readers.length / 2));
  await Promise.all(firstReaders.map((reader) => reader.fetchFeeds()));
  const reading = readers.map(async (reader, i) => {
    const share = 0.05 + 0.9 * random.next();
    if (i >= firstReaders.length) await untilPublished(share).then(() => reader.fetchFeeds());
    await reader.readToEnd();
  });
  const injecting = injectFaults(environment.faultInjections, untilPublished, random.fork());
  const onPublished = async (count: number) => {
    publishedCount += count;
    const required = (size.minRequestsPerReader * firstReaders.length * publishedCount) / size.messages;
    while (countAccepted(firstReaders) < required) await pause(5);
  };
  const publishing = Array.from({ length: size.publishers }, (_, n) => {
    const messages =
      Math.floor((size.messages * (n + 1)) / size.publishers) - Math.floor((size.messages * n) / size.publishers);
    const server = environment.servers[n % environment.servers.length] ?? environment.origin;
    const options = { name: `publisher ${n}`, channels, server, messages, pauseMs: size.pauseMs };
    return publishAll({ ...options, random: random.fork(), onPublished });
  });
  const outcomes = (await Promise.all(publishing)).flat();
  await injecting;
  outcomes.push(...(await publishLastMessages(environment, channels, readers)));
  const cancel = stopWhenIdle(readers);
  await Promise.all(reading);
  cancel();
  return checkResult(readers, outcomes, await environment.readStoredMessages(channels));
}

/** Stops the readers when they receive nothing any more, however long a busy machine takes. @returns a function that cancels this */
function stopWhenIdle(readers: readonly TortureReader[]): () => void {
  const countReceived = () => readers.flatMap(({ received }) => received.flat()).length;
  let count = -1;
  let timer: NodeJS.Timeout;
  const check = () => {
    const before = count;
    count = countReceived();
    if (count === before) for (const reader of readers) reader.stop();
    else timer = setTimeout(check, IDLE_TIMEOUT_MS);
  };
  check();
  return () => clearTimeout(timer);
}

function countAccepted(readers: readonly TortureReader[]): number {
  return readers.reduce((sum, { counts }) => sum + counts.accepted, 0);
}

function createReaders(
  { readers, connectionMs }: TortureSize,
  { origin, changeCursor }: TortureEnvironment,
  { channels, random }: { channels: readonly string[]; random: SeededRandom },
): TortureReader[] {
  return Array.from({ length: readers }, (_, n) => {
    const ownChannels = random.sample(channels, random.integer(1, 5));
    const options = {
      name: `reader ${n}`,
      address: `192.0.2.${n + 1}`,
      isPolling: n % 4 === 3,
      channels: ownChannels,
      origin,
      connectionMs,
      random: random.fork(),
    };
    return new TortureReader(changeCursor ? { ...options, changeCursor } : options);
  });
}

async function injectFaults(
  faultInjections: readonly FaultInjection[],
  untilPublished: (share: number) => Promise<void>,
  random: SeededRandom,
): Promise<void> {
  for (const { at, inject } of faultInjections) {
    await untilPublished(at);
    await inject(random);
  }
}

/** Publishes a last message to each channel, and has the readers read up to it. */
async function publishLastMessages(
  { servers }: TortureEnvironment,
  channels: readonly string[],
  readers: readonly TortureReader[],
): Promise<PublishOutcome[]> {
  const outcomes: PublishOutcome[] = [];
  const lastMessages = new Map<string, string>();
  for (const channel of channels) {
    for (let n = 0; !lastMessages.has(channel); n++) {
      const text = `${channel} end:${n}`;
      const [isAcknowledged = false] = await publishTexts(servers[0] ?? "", channel, [text]);
      outcomes.push({ channel, publisher: "end", text, isAcknowledged });
      if (isAcknowledged) lastMessages.set(channel, text);
    }
  }
  for (const reader of readers) reader.setLastMessages((channel) => lastMessages.get(channel) ?? "");
  return outcomes;
}

function checkResult(
  readers: readonly TortureReader[],
  outcomes: readonly PublishOutcome[],
  stored: StoredMessages,
): TortureResult {
  const channels = [...new Set(outcomes.map(({ channel }) => channel))];
  const busFaults = channels.flatMap((channel) =>
    findBusFaults(
      channel,
      stored.all(channel),
      outcomes.filter((outcome) => outcome.channel === channel),
    ),
  );
  const readerFaults = readers.flatMap(({ options, feeds, received, faults }) => [
    ...faults,
    ...options.channels.flatMap((channel, i) =>
      findReaderFaults(`${options.name}, ${channel}`, stored.after(feeds[i] ?? ""), received[i] ?? []),
    ),
  ]);
  const sum = (value: (reader: TortureReader) => number) => readers.reduce((total, reader) => total + value(reader), 0);
  return {
    faults: [...busFaults, ...readerFaults],
    published: outcomes.length,
    unknown: outcomes.filter(({ isAcknowledged }) => !isAcknowledged).length,
    delivered: sum(({ received }) => received.flat().length),
    sent: sum(({ counts }) => counts.sent),
    accepted: sum(({ counts }) => counts.accepted),
    aborted: sum(({ counts }) => counts.aborted),
    failed: sum(({ counts }) => counts.failed),
  };
}
