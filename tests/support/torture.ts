/**
 * The torture run: many publish, many listen and are cut off again and again, and in the middle of it all that
 * carries them is struck down. Then what each reader got is compared with what the bus holds.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Fault, faultsOfBus, faultsOfReading, type Outcome } from "./torture-check.ts";
import type { Ledger } from "./torture-ledger.ts";
import { publish, publishAll } from "./torture-publisher.ts";
import { Chance } from "./torture-random.ts";
import { TortureReader, type Visits } from "./torture-reader.ts";

/** How much of everything. */
export interface TortureSize {
  readonly channels: number;
  readonly messages: number;
  readonly readers: number;
  readonly publishers: number;
  /** How long each publisher waits from call to call, on average. */
  readonly pauseMs: number;
  /** How long readers listen before they are cut off: between the two. */
  readonly visitMs: readonly [least: number, most: number];
  /** How often a reader of the first hour is let in at least, on average, while messages come: publishers wait for that. */
  readonly visits: number;
}

/** What is struck down, and when: after this share of the messages. */
export interface Strike {
  readonly at: number;
  /** Strikes, and puts it up again. */
  readonly strike: (chance: Chance) => Promise<void>;
}

/** Where it happens. */
export interface TortureWorld {
  /** Where readers ask. */
  readonly entry: string;
  /** Where messages are published, in turn. */
  readonly servers: readonly string[];
  readonly strikes: readonly Strike[];
  /** Reads what the bus holds of the channels. */
  readonly ledger: (channels: readonly string[]) => Promise<Ledger>;
  /** Changes the cursors that readers come back with; the tests of the harness break them so. */
  readonly resume?: (cursor: string) => string;
}

/** What came of it. */
export interface TortureResult extends Visits {
  readonly faults: readonly Fault[];
  readonly published: number;
  /** Of how many messages nobody knows whether the bus took them. */
  readonly unknown: number;
  /** How many messages the readers got, of all of them together. */
  readonly delivered: number;
}

/** How long readers may take to come to the end, once all is published, before they are given up. */
const FINISH_MS = 30_000;

/** Runs it. What is chosen is chosen by `seed`; the order in which it happens is not. */
export async function torture(size: TortureSize, world: TortureWorld, seed: number): Promise<TortureResult> {
  const chance = new Chance(seed);
  const channels = Array.from({ length: size.channels }, (_, n) => `room:${n}`);
  const readers = makeReaders(size, world, { channels, chance });
  const progress = { done: 0 };
  const reach = async (share: number) => {
    while (progress.done < share * size.messages) await pause(5);
  };

  const first = Math.ceil(readers.length / 2);
  await Promise.all(readers.slice(0, first).map((reader) => reader.join()));
  const reading = readers.map(async (reader, at) => {
    const share = 0.05 + 0.9 * chance.next();
    if (at >= first) await reach(share).then(() => reader.join());
    await reader.read();
  });
  const striking = strikeAll(world.strikes, reach, chance.fork());
  const publishing = Array.from({ length: size.publishers }, (_, n) => {
    const messages =
      Math.floor((size.messages * (n + 1)) / size.publishers) - Math.floor((size.messages * n) / size.publishers);
    const server = world.servers[n % world.servers.length] ?? world.entry;
    const onPublished = async (count: number) => {
      progress.done += count;
      const wanted = (size.visits * first * progress.done) / size.messages;
      while (answered(readers.slice(0, first)) < wanted) await pause(5);
    };
    const plan = { name: `publisher ${n}`, channels, server, messages, pauseMs: size.pauseMs };
    return publishAll({ ...plan, chance: chance.fork(), onPublished });
  });
  const outcomes = (await Promise.all(publishing)).flat();
  await striking;
  outcomes.push(...(await end(world, channels, readers)));
  const giveUp = () => {
    for (const reader of readers) reader.giveUp();
  };
  const timer = setTimeout(giveUp, FINISH_MS);
  await Promise.all(reading);
  clearTimeout(timer);
  return judge(readers, outcomes, await world.ledger(channels));
}

function answered(readers: readonly TortureReader[]): number {
  return readers.reduce((sum, { visits }) => sum + visits.answered, 0);
}

function makeReaders(
  { readers, visitMs }: TortureSize,
  { entry, resume }: TortureWorld,
  { channels, chance }: { channels: readonly string[]; chance: Chance },
): TortureReader[] {
  return Array.from({ length: readers }, (_, n) => {
    const isPolling = n % 4 === 3;
    const mine = chance.some(channels, chance.between(1, 5));
    const address = `192.0.2.${n + 1}`;
    const plan = { name: `reader ${n}`, address, isPolling, channels: mine, entry, visitMs, chance: chance.fork() };
    return new TortureReader(resume ? { ...plan, resume } : plan);
  });
}

async function strikeAll(
  strikes: readonly Strike[],
  reach: (share: number) => Promise<void>,
  chance: Chance,
): Promise<void> {
  for (const { at, strike } of strikes) {
    await reach(at);
    await strike(chance);
  }
}

/** Publishes a last message to each channel, and has the readers read up to it. */
async function end(
  { servers }: TortureWorld,
  channels: readonly string[],
  readers: readonly TortureReader[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const last = new Map<string, string>();
  for (const channel of channels) {
    for (let n = 0; !last.has(channel); n++) {
      const text = `end:${n}`;
      const [isTaken = false] = await publish(servers[0] ?? "", channel, [`${channel} ${text}`]);
      outcomes.push({ channel, by: "end", text: `${channel} ${text}`, isTaken });
      if (isTaken) last.set(channel, `${channel} ${text}`);
    }
  }
  for (const reader of readers) reader.finish((channel) => last.get(channel) ?? "");
  return outcomes;
}

function judge(readers: readonly TortureReader[], outcomes: readonly Outcome[], ledger: Ledger): TortureResult {
  const channels = [...new Set(outcomes.map(({ channel }) => channel))];
  const ofBus = channels.flatMap((channel) =>
    faultsOfBus(
      channel,
      ledger.all(channel),
      outcomes.filter((outcome) => outcome.channel === channel),
    ),
  );
  const ofReaders = readers.flatMap(({ plan, feeds, got, faults }) => [
    ...faults,
    ...plan.channels.flatMap((channel, at) =>
      faultsOfReading(`${plan.name}, ${channel}`, ledger.after(feeds[at] ?? ""), got[at] ?? []),
    ),
  ]);
  const sum = (of: (reader: TortureReader) => number) => readers.reduce((total, reader) => total + of(reader), 0);
  return {
    faults: [...ofBus, ...ofReaders],
    published: outcomes.length,
    unknown: outcomes.filter(({ isTaken }) => !isTaken).length,
    delivered: sum(({ got }) => got.flat().length),
    asked: sum(({ visits }) => visits.asked),
    answered: sum(({ visits }) => visits.answered),
    cut: sum(({ visits }) => visits.cut),
    failed: sum(({ visits }) => visits.failed),
  };
}
