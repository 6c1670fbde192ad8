import type { StoredMsg } from "@nats-io/jetstream";
import { ConfigError } from "../../config/index.ts";
import { consoleLog, type Log } from "../../logging/index.ts";
import type { Batch, Bus, Message, Position, Wake } from "./bus.ts";
import { newEpoch } from "./epoch.ts";
import { isMissing, NatsLink, type Session } from "./nats-link.ts";
import { channelOf, markOf, NO_MARK, type Place, positionOf, readPosition, tokenOf } from "./nats-position.ts";
import { NatsTail } from "./nats-tail.ts";
import { Outbox, type Parcel } from "./outbox.ts";
import { Patience } from "./waiting.ts";
import { Wakes } from "./wakes.ts";

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
  readonly log?: Log;
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
  readonly #link: NatsLink;
  readonly #tail: NatsTail;
  readonly #outbox: Outbox;
  readonly #patience = new Patience(isPassing);
  readonly #wakes = new Wakes();
  readonly #stream: string;
  readonly #subject: string;
  /** No other process has it: what this one sends is told from what others do. */
  readonly #producer = newEpoch();
  #closing: Promise<void> | undefined;

  constructor({ url, stream = "tsweb", hours = 24.5, bytes = 512 * 1024 ** 2, replicas = 1, log }: NatsOptions) {
    if (!/^[\w-]{1,100}$/.test(stream)) throw new TypeError("nats: a stream's name is of letters, digits, - and _.");
    this.#stream = stream;
    this.#subject = `${stream}.live.`;
    const keepMs = hours * 3_600_000;
    this.#link = new NatsLink(url, {
      stream: {
        ...{ name: stream, subjects: [`${this.#subject}*`], storage: "file", num_replicas: replicas },
        ...{ max_age: Math.round(keepMs) * NANOSECONDS, max_bytes: bytes, discard: "old" },
        ...{ duplicate_window: Math.min(REMEMBER_MS, keepMs) * NANOSECONDS },
        // What is lost is lost from the beginning: that a place is still there says that nothing after it is lost.
        ...{ deny_delete: true, deny_purge: true },
      },
      log: log ?? consoleLog(),
      back: () => this.#tail.restart(),
    });
    this.#tail = new NatsTail(stream, {
      session: () => this.#link.session(),
      lost: () => this.#wakes.doubt(),
      back: () => this.#wakes.alarm(),
      message: ({ subject, seq, id, data, epoch }) => {
        const channel = channelOf(subject.slice(this.#subject.length));
        this.#wakes.tell(channel, { message: { position: positionOf(epoch, { seq, mark: markOf(id) }), data } });
      },
    });
    // The server keeps the order of what one connection sends, but a leader that changes does not.
    this.#outbox = new Outbox({
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
      const end = positionOf(session.epoch, await this.#end(session));
      return channels.map(() => end);
    });
  }

  read(channel: string, after: Position, limit: number): Promise<Batch> {
    return this.#insist((session) => this.#read(session, { channel, after, limit }));
  }

  async watch(channel: string, wake: Wake): Promise<() => void> {
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

  async #send({ channel, number, data }: Parcel): Promise<Position[]> {
    const [text] = data;
    if (text === undefined || data.length > 1) throw new Error("A parcel for NATS holds one message.");
    const msgID = `${this.#producer}-${number}`;
    const { jetStream, epoch, answer } = await this.#link.session();
    try {
      const { seq } = await answer(jetStream.publish(this.#subjectOf(channel), text, { msgID }));
      return [positionOf(epoch, { seq, mark: markOf(msgID) })];
    } catch (error) {
      // Where nobody takes a message, the stream is gone, or JetStream not there yet.
      if (isUnheard(error)) this.#link.forget();
      throw error;
    }
  }

  #insist<T>(ask: (session: Session) => Promise<T>): Promise<T> {
    return this.#patience.insist(async () => {
      try {
        const session = await this.#link.session();
        return await session.answer(ask(session));
      } catch (error) {
        if (isMissing(error)) this.#link.forget();
        throw error;
      }
    });
  }

  /** The last place of the stream. */
  async #end(session: Session): Promise<Place> {
    const last = await session.manager.streams.getMessage(this.#stream, { last_by_subj: ">" });
    if (last) return placeOf(last);
    const { state } = await session.manager.streams.info(this.#stream);
    // The first one came in between: its place has a mark.
    if (state.messages > 0) return this.#end(session);
    return { seq: state.last_seq, mark: NO_MARK };
  }

  async #read(session: Session, asked: { channel: string; after: Position; limit: number }): Promise<Batch> {
    const end = await this.#end(session);
    const from = readPosition(asked.after);
    const gap: Batch = { messages: [], gap: true, end: positionOf(session.epoch, end), more: false };
    const reset: Batch = { ...gap, reset: true };
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
    if (last) return { messages, gap: false, end: positionOf(session.epoch, last), more: true };
    const furthest = messages.at(-1)?.position ?? gap.end;
    return { messages, gap: false, end: furthest > gap.end ? furthest : gap.end, more: false };
  }

  /** Gives what of a channel follows on a number; with the last place of it when there is more. */
  async #after(
    { manager, epoch }: Session,
    { channel, seq, limit }: { channel: string; seq: number; limit: number },
  ): Promise<{ messages: Message[]; last?: Place }> {
    const subject = this.#subjectOf(channel);
    const messages: Message[] = [];
    let last: Place = { seq, mark: NO_MARK };
    for (let bytes = 0; ; ) {
      const query = { seq: last.seq + 1, next_by_subj: subject };
      const next = await manager.streams.getMessage(this.#stream, query);
      if (!next) return { messages };
      bytes += next.data.length;
      if (messages.length === limit || (messages.length > 0 && bytes > READ_BYTES)) return { messages, last };
      last = placeOf(next);
      messages.push({ position: positionOf(epoch, last), data: next.string() });
    }
  }

  /** Answers whether the stream holds all that came after a place, is gone past it, or has another there. */
  async #find({ manager }: Session, { seq, mark }: Place): Promise<"held" | "gone" | "other"> {
    const message = seq === 0 ? null : await manager.streams.getMessage(this.#stream, { seq });
    if (message) return placeOf(message).mark === mark ? "held" : "other";
    if (mark !== NO_MARK) return "gone";
    const { state } = await manager.streams.info(this.#stream);
    const isNext = state.messages === 0 ? state.last_seq === seq : state.first_seq <= seq + 1;
    return isNext ? "held" : "gone";
  }

  #subjectOf(channel: string): string {
    return this.#subject + tokenOf(channel);
  }
}

function placeOf(message: StoredMsg): Place {
  return { seq: message.seq, mark: markOf(message.header.get("Nats-Msg-Id")) };
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
