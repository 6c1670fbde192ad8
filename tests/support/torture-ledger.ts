/**
 * What a bus holds, read past all of our own code: from the server that keeps it.
 */
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";

/** All that a bus holds, by channel. */
export interface Ledger {
  /** The texts of a channel, oldest first. */
  all(channel: string): string[];
  /** Those that come after the position that a feed stands at. */
  after(feed: string): string[];
}

interface Entry {
  /** Its number: in its channel, or in all of them together. */
  readonly number: number;
  readonly text: string;
}

type Entries = ReadonlyMap<string, readonly Entry[]>;

/** Reads what a Redis holds: a stream for each channel, whose entries are numbered through. */
export async function readRedis(url: string, channels: readonly string[]): Promise<Ledger> {
  const client = new Redis(url);
  const entries = new Map<string, Entry[]>();
  for (const channel of channels) {
    const held = await client.xrange(`tsweb:bus:channel:${channel}`, "-", "+");
    entries.set(
      channel,
      held.map(([id, fields]) => ({
        number: Number(id.split("-")[1]),
        text: JSON.parse(fields[fields.indexOf("d") + 1] ?? ""),
      })),
    );
  }
  client.disconnect();
  return ledgerOf(entries, (position) => Number.parseInt(position.split("-")[1] ?? "", 36));
}

/** Reads what a NATS server holds: one stream for all channels. */
export async function readNats(url: string): Promise<Ledger> {
  const connection = await connect({ servers: url });
  const entries = new Map<string, Entry[]>();
  try {
    const { streams } = await jetstreamManager(connection);
    const { state } = await streams.info("tsweb");
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await streams.getMessage("tsweb", { seq });
      if (!message) throw new Error(`The stream has no message ${seq}.`);
      const channel = Buffer.from(message.subject.split(".").at(-1) ?? "", "base64url").toString();
      const known = entries.get(channel) ?? [];
      known.push({ number: seq, text: message.json() });
      entries.set(channel, known);
    }
  } finally {
    await connection.close();
  }
  return ledgerOf(entries, (position) => Number.parseInt(/\.(\w+)-/.exec(position)?.[1] ?? "", 36));
}

/**
 * Makes a ledger.
 *
 * @param numberOf gives the number of what a position stands after
 */
export function ledgerOf(entries: Entries, numberOf: (position: string) => number): Ledger {
  const held = (channel: string) => entries.get(channel) ?? [];
  return {
    all: (channel) => held(channel).map(({ text }) => text),
    after(feed) {
      const [, position = "", channel = ""] = Buffer.from(feed, "base64url").toString().split("\n");
      const from = numberOf(position);
      if (Number.isNaN(from)) throw new Error(`A feed's position cannot be read: ${position}`);
      return held(channel)
        .filter(({ number }) => number > from)
        .map(({ text }) => text);
    },
  };
}
