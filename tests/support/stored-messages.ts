/**
 * The messages that a bus stores, read from its server without tsweb's code.
 */
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";
import { TEST_NAMESPACE } from "./app-process.ts";

/** All messages that a bus stores. */
export interface StoredMessages {
  /** Returns the texts of a channel, oldest first. */
  all(channel: string): string[];
  /** Returns the texts of a feed's channel after the position of the feed. */
  after(feed: string): string[];
}

interface StoredMessage {
  /** The sequence number: of the channel in Redis, of all channels in NATS. */
  readonly sequence: number;
  readonly text: string;
}

type MessagesByChannel = ReadonlyMap<string, readonly StoredMessage[]>;

/** Reads the messages of a Redis, which has one stream for each channel. */
export async function readRedisMessages(url: string, channels: readonly string[]): Promise<StoredMessages> {
  const client = new Redis(url);
  const messages = new Map<string, StoredMessage[]>();
  for (const channel of channels) {
    const entries = await client.xrange(`tsweb:{${TEST_NAMESPACE}}:channel:${channel}`, "-", "+");
    messages.set(
      channel,
      entries.map(([id, fields]) => ({
        sequence: Number(id.split("-")[1]),
        text: JSON.parse(fields[fields.indexOf("d") + 1] ?? ""),
      })),
    );
  }
  client.disconnect();
  return createStoredMessages(messages, (position) => Number.parseInt(position.split("-")[1] ?? "", 36));
}

/**
 * Reads the messages of a NATS server, which has one stream for all channels.
 *
 * @param onMissing called with the sequence of a message that a server of a cluster has lost; otherwise, that is an error
 */
export async function readNatsMessages(url: string, onMissing = throwMissing): Promise<StoredMessages> {
  const connection = await connect({ servers: url });
  const messages = new Map<string, StoredMessage[]>();
  try {
    const { streams } = await jetstreamManager(connection);
    const stream = `tsweb-live-${TEST_NAMESPACE}`;
    const { state } = await streams.info(stream);
    for (let sequence = state.first_seq; sequence <= state.last_seq; sequence++) {
      const message = await streams.getMessage(stream, { seq: sequence });
      if (!message) {
        onMissing(sequence);
        continue;
      }
      if (message.subject.endsWith(".-")) continue; // a barrier, which belongs to no channel
      const channel = Buffer.from(message.subject.split(".").at(-1) ?? "", "base64url").toString();
      const channelMessages = messages.get(channel) ?? [];
      channelMessages.push({ sequence, text: message.json() });
      messages.set(channel, channelMessages);
    }
  } finally {
    await connection.close();
  }
  return createStoredMessages(messages, (position) => Number.parseInt(/\.(\w+)-/.exec(position)?.[1] ?? "", 36));
}

function throwMissing(sequence: number): void {
  throw new Error(`The stream has no message ${sequence}.`);
}

/** @param sequenceOf returns the sequence number of a position */
export function createStoredMessages(
  messages: MessagesByChannel,
  sequenceOf: (position: string) => number,
): StoredMessages {
  const messagesOf = (channel: string) => messages.get(channel) ?? [];
  return {
    all: (channel) => messagesOf(channel).map(({ text }) => text),
    after(feed) {
      const [, position = "", channel = ""] = Buffer.from(feed, "base64url").toString().split("\n");
      const from = sequenceOf(position);
      if (Number.isNaN(from)) throw new Error(`The position ${position} of a feed has no sequence number.`);
      return messagesOf(channel)
        .filter(({ sequence }) => sequence > from)
        .map(({ text }) => text);
    },
  };
}
