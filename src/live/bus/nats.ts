import type { StoredMsg } from "@nats-io/jetstream";
import { ConfigError } from "../../config/index.ts";
import { createConsoleLogger, type Logger } from "../../logging/index.ts";
import type { Bus, ChannelListener, Message, Position, ReadResult } from "./bus.ts";
import { ChannelNotifier } from "./channel-notifier.ts";
import { createEpoch } from "./epoch.ts";
import { isStreamNotFound, type JetStreamContext, NatsConnector } from "./nats-connector.ts";
import { NatsConsumer } from "./nats-consumer.ts";
import {
  decodeSubjectToken,
  encodeSubjectToken,
  formatPosition,
  hashMessageId,
  NO_MESSAGE_HASH,
  parsePosition,
  type StreamOffset,
} from "./nats-position.ts";
import { type PublishBatch, PublishQueue } from "./publish-queue.ts";
import { RetryPolicy } from "./retry-policy.ts";

/** What {@link nats} can be told. All but the address says how the stream is made where there is none. */
export interface NatsOptions {
  /** `nats://…` or `tls://…`, with `user:password@` or `token@` before the host. */
  readonly url: string;
  /** What the stream is called; applications that share a server need one each. Default: `tsweb`. */
  readonly stream?: string;
  /** How long messages are kept. Default: 24.5, half an hour longer than a feed lives. */
  readonly hours?: number;
  /** How many bytes are kept, of all channels together. Default: 512 MiB. */
  readonly bytes?: number;
  /** On how many servers of a cluster each message lies. Default: 1. */
  readonly replicas?: number;
  /** Where it is written that the server is away, and back. Default: standard error. */
  readonly log?: Logger;
}

/** How long a message may take to be taken. */
const PUBLISH_MS = 10_000;

/** How long the server remembers ids: far longer than a message may be sent again. */
const REMEMBER_MS = 120_000;

/** How many bytes of messages a read gives at most, unless one alone has more. */
const READ_BYTES = 1024 * 1024;

const NANOSECONDS = 1_000_000; // in a millisecond

/**
 * Makes a bus of a NATS server with JetStream, 2.9 or later, for any number of processes. Nothing is
 * connected before its first use.
 *
 * All channels share one stream, in files: messages survive a crash of the server. It gives up the
 * oldest of all when it is full. A stream of that name that is there already is used as it is.
 *
 * @throws TypeError for a stream's name that holds more than letters, digits, `-` and `_`; at first
 *   use, ConfigError when the client is not installed
 * @example realtime.use_bus(nats("nats://localhost:4222"));
 */
export function nats(options: string | NatsOptions): Bus {
  return new NatsBus(typeof options === "string" ? { url: options } : options);
}

class NatsBus implements Bus {
  readonly #link: NatsConnector;
  readonly #tail: NatsConsumer;
  readonly #outbox: PublishQueue;
  readonly #patience = new RetryPolicy(isPassing);
  readonly #wakes = new ChannelNotifier();
  readonly #stream: string;
  readonly #subject: string;
  /** No other process has it: what this one sends is told from what others do. */
  readonly #producer = createEpoch();
  #closing: Promise<void> | undefined;

  constructor({ url, stream = "tsweb", hours = 24.5, bytes = 512 * 1024 ** 2, replicas = 1, log }: NatsOptions) {
    if (!/^[\w-]{1,100}$/.test(stream)) throw new TypeError("nats: a stream's name is of letters, digits, - and _.");
    this.#stream = stream;
    this.#subject = `${stream}.live.`;
    const keepMs = hours * 3_600_000;
    this.#link = new NatsConnector(url, {
      stream: {
        ...{ name: stream, subjects: [`${this.#subject}*`], storage: "file", num_replicas: replicas },
        ...{ max_age: Math.round(keepMs) * NANOSECONDS, max_bytes: bytes, discard: "old" },
        ...{ duplicate_window: Math.min(REMEMBER_MS, keepMs) * NANOSECONDS },
        // What is lost is lost from the beginning: that a place is still there says that nothing after it is lost.
        ...{ deny_delete: true, deny_purge: true },
      },
      log: log ?? createConsoleLogger(),
      back: () => this.#tail.restart(),
    });
    this.#tail = new NatsConsumer(stream, {
      session: () => this.#link.session(),
      lost: () => this.#wakes.invalidate(),
      back: () => this.#wakes.notifyAll(),
      message: ({ subject, seq, id, data, epoch }) => {
        const channel = decodeSubjectToken(subject.slice(this.#subject.length));
        this.#wakes.notify(channel, {
          message: { position: formatPosition(epoch, { seq, mark: hashMessageId(id) }), data },
        });
      },
    });
    // The server keeps the order of what one connection sends, but a leader that changes does not.
    this.#outbox = new PublishQueue({
      send: (parcel) => this.#send(parcel),
      isPassing,
      perParcel: 1,
      waitMs: PUBLISH_MS,
    });
  }

  publish(channel: string, data: string): Promise<Position> {
    return this.#outbox.publish(channel, data);
  }

  position(channels: readonly string[]): Promise<Position[]> {
    return this.#insist(async (session) => {
      const end = formatPosition(session.epoch, await this.#end(session));
      return channels.map(() => end);
    });
  }

  read(channel: string, after: Position, limit: number): Promise<ReadResult> {
    return this.#insist((session) => this.#read(session, { channel, after, limit }));
  }

  async watch(channel: string, wake: ChannelListener): Promise<() => void> {
    const stop = this.#wakes.add(channel, wake);
    try {
      await this.#insist(() => this.#tail.ready());
    } catch (error) {
      stop();
      throw error;
    }
    return () => void stop();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#outbox.close();
    this.#patience.close();
    this.#wakes.clear();
    this.#tail.close();
    await this.#link.close();
  }

  async #send({ channel, number, data }: PublishBatch): Promise<Position[]> {
    const [text] = data;
    if (text === undefined || data.length > 1) throw new Error("A parcel for NATS holds one message.");
    const msgID = `${this.#producer}-${number}`;
    const { jetStream, epoch, answer } = await this.#link.session();
    try {
      const { seq } = await answer(jetStream.publish(this.#subjectOf(channel), text, { msgID }));
      return [formatPosition(epoch, { seq, mark: hashMessageId(msgID) })];
    } catch (error) {
      // Where nobody takes a message, the stream is gone, or JetStream not there yet.
      if (isUnheard(error)) this.#link.forget();
      throw error;
    }
  }

  #insist<T>(ask: (session: JetStreamContext) => Promise<T>): Promise<T> {
    return this.#patience.run(async () => {
      try {
        const session = await this.#link.session();
        return await session.answer(ask(session));
      } catch (error) {
        if (isStreamNotFound(error)) this.#link.forget();
        throw error;
      }
    });
  }

  /** The last place of the stream. */
  async #end(session: JetStreamContext): Promise<StreamOffset> {
    const last = await session.manager.streams.getMessage(this.#stream, { last_by_subj: ">" });
    if (last) return placeOf(last);
    const { state } = await session.manager.streams.info(this.#stream);
    // The first one came in between: its place has a mark.
    if (state.messages > 0) return this.#end(session);
    return { seq: state.last_seq, mark: NO_MESSAGE_HASH };
  }

  async #read(
    session: JetStreamContext,
    asked: { channel: string; after: Position; limit: number },
  ): Promise<ReadResult> {
    const end = await this.#end(session);
    const from = parsePosition(asked.after);
    const gap: ReadResult = { messages: [], gap: true, end: formatPosition(session.epoch, end), more: false };
    const reset: ReadResult = { ...gap, reset: true };
    if (!from) return reset;
    if (from.epoch !== session.epoch) {
      // It is ours that may be out of date, where the stream was made anew.
      this.#link.forget();
      return from.epoch === (await this.#link.session()).epoch ? this.#read(await this.#link.session(), asked) : reset;
    }
    const { place } = from;
    if (place.seq > end.seq) return reset;
    if (place.seq === end.seq && place.mark === end.mark) return { ...gap, gap: false };
    const { messages, last } = await this.#after(session, { ...asked, seq: place.seq });
    // Asked last: nothing that came after the place can have been lost while it was read.
    const found = await this.#find(session, place);
    if (found !== "held") return found === "gone" ? gap : reset;
    if (last) return { messages, gap: false, end: formatPosition(session.epoch, last), more: true };
    const furthest = messages.at(-1)?.position ?? gap.end;
    return { messages, gap: false, end: furthest > gap.end ? furthest : gap.end, more: false };
  }

  /** Gives what of a channel follows on a number; with the last place of it when there is more. */
  async #after(
    { manager, epoch }: JetStreamContext,
    { channel, seq, limit }: { channel: string; seq: number; limit: number },
  ): Promise<{ messages: Message[]; last?: StreamOffset }> {
    const subject = this.#subjectOf(channel);
    const messages: Message[] = [];
    let last: StreamOffset = { seq, mark: NO_MESSAGE_HASH };
    for (let bytes = 0; ; ) {
      const query = { seq: last.seq + 1, next_by_subj: subject };
      const next = await manager.streams.getMessage(this.#stream, query);
      if (!next) return { messages };
      bytes += next.data.length;
      if (messages.length === limit || (messages.length > 0 && bytes > READ_BYTES)) return { messages, last };
      last = placeOf(next);
      messages.push({ position: formatPosition(epoch, last), data: next.string() });
    }
  }

  /** Answers whether the stream holds all that came after a place, is gone past it, or has another there. */
  async #find({ manager }: JetStreamContext, { seq, mark }: StreamOffset): Promise<"held" | "gone" | "other"> {
    const message = seq === 0 ? null : await manager.streams.getMessage(this.#stream, { seq });
    if (message) return placeOf(message).mark === mark ? "held" : "other";
    if (mark !== NO_MESSAGE_HASH) return "gone";
    const { state } = await manager.streams.info(this.#stream);
    const isNext = state.messages === 0 ? state.last_seq === seq : state.first_seq <= seq + 1;
    return isNext ? "held" : "gone";
  }

  #subjectOf(channel: string): string {
    return this.#subject + encodeSubjectToken(channel);
  }
}

function placeOf(message: StoredMsg): StreamOffset {
  return { seq: message.seq, mark: hashMessageId(message.header.get("Nats-Msg-Id")) };
}

/** Answers whether an error says that nobody took a message. */
function isUnheard(error: unknown): boolean {
  return error instanceof Error && ["JetStreamNotEnabled", "NoRespondersError"].includes(error.name);
}

/**
 * Answers whether an error passes: NATS is away, or about to be there. What it refuses for another
 * reason, it will refuse again.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof ConfigError) return false;
  if (!(error instanceof Error)) return true;
  if (error.name === "JetStreamApiError") return "status" in error && error.status === 503;
  return error.name !== "AuthorizationError" && error.name !== "PermissionViolationError";
}
