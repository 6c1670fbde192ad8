import type { StoredMsg } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { ForeignDataLog, Message, Position, ReadLimit, ReadResult } from "../bus/index.ts";
import { type JetStreamContext, keepsEqualCopies, type NatsConnector } from "./connector.ts";
import {
  formatPosition,
  hashMessageId,
  isBusMessageId,
  NO_MESSAGE_HASH,
  parseDelivery,
  parsePosition,
  readMessageId,
  type StreamOffset,
} from "./position.ts";
import { StaleAnswerError } from "./stream.ts";
import { NS_PER_MS } from "./stream-config.ts";

/** The parameters of {@link NatsReader.read}. */
export interface ReadRequest {
  readonly subject: string;
  readonly after: Position;
  readonly limit: ReadLimit;
}

/** The options of a {@link NatsReader}. */
export interface NatsReaderOptions {
  readonly connector: NatsConnector;
  /** Receives a report of messages that no bus wrote. They are not returned. */
  readonly foreignData: ForeignDataLog;
}

/** How many messages a read requests one by one before it requests the rest together: most reads find one or none. */
const SINGLE_READS = 3;

/** How many batches are read at the same time. Each needs a consumer, which is expensive in a cluster. */
const MAX_BATCHES = 8;

/** For how long messages are read one by one after a batch has failed: a cluster without a leader is slow to refuse each. */
const BATCH_PAUSE_MS = 5_000;

/** Reads the history of channels from the stream, and decides whether there is a gap. */
export class NatsReader {
  readonly #stream: string;
  readonly #connector: NatsConnector;
  readonly #foreignData: ForeignDataLog;
  /** The number of batches that are being read. */
  #batches = 0;
  /** Until when none is read, by `performance.now`. */
  #batchesPausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(stream: string, { connector, foreignData }: NatsReaderOptions) {
    this.#stream = stream;
    this.#connector = connector;
    this.#foreignData = foreignData;
  }

  /** Returns the position of the last message in the stream. */
  async endPosition(context: JetStreamContext): Promise<Position> {
    return formatPosition(context.epoch, await this.#endOffset(context));
  }

  /**
   * Reads the messages of a subject after a position, as `Bus.read` does.
   *
   * Each request can be answered by another server of the cluster, and a server that was frozen answers with an earlier state
   * for a moment. So what a message contains is believed, and that there is none only as far as nothing contradicts it.
   */
  async read(context: JetStreamContext, request: ReadRequest): Promise<ReadResult> {
    const { stream } = this.#connector;
    const seenSeq = stream.seenIn(context.epoch).lastOf(request.subject);
    const endOffset = await this.#endOffset(context);
    const end = formatPosition(context.epoch, endOffset);
    const after = parsePosition(request.after);
    const gap: ReadResult = { messages: [], gap: true, end, more: false };
    const reset: ReadResult = { ...gap, reset: true };
    if (!after) return reset;
    if (after.epoch !== context.epoch) {
      // The epoch of the context may be outdated, if the stream was deleted and created again.
      this.#connector.recheckStream();
      const current = await this.#connector.context();
      return after.epoch === current.epoch ? this.read(current, request) : reset;
    }
    const { offset } = after;
    if (offset.seq > endOffset.seq) {
      // A client can have a message that this process has not seen yet.
      if (stream.isReplicated && (await stream.confirmEnd(context)) >= offset.seq) this.#rejectStaleAnswer();
      return reset;
    }
    if (offset.seq === endOffset.seq && offset.messageHash === endOffset.messageHash) return { ...gap, gap: false };
    const { messages, last, more } = await this.#readAfter(context, { ...request, seq: offset.seq });
    // Checked last, so that no message after the offset can have been removed during the read.
    const state = await this.#offsetState(context, offset);
    await this.#connector.verify(context);
    if (state !== "stored") return state === "removed" ? gap : reset;
    if (more) return { messages, gap: false, end: formatPosition(context.epoch, last), more };
    if (last.seq < seenSeq) {
      await this.#confirmLoss(context, request.subject, last);
      return gap;
    }
    return { messages, gap: false, end: laterOf(end, messages), more: false };
  }

  /** Reads the messages of a subject from the oldest stored one, as `Bus.readOldest` does. */
  async readOldest(context: JetStreamContext, request: Omit<ReadRequest, "after">): Promise<ReadResult> {
    const { epoch, manager } = context;
    const seenSeq = this.#connector.stream.seenIn(epoch).lastOf(request.subject);
    const end = formatPosition(epoch, await this.#endOffset(context));
    const { messages, last, more } = await this.#readAfter(context, { ...request, seq: 0 });
    // Read last. The stream removes messages at its start only: those from this sequence on were stored during the whole read.
    // One before it may have been removed between two others that are in the result.
    const firstSeq = (await manager.streams.info(this.#stream)).state.first_seq;
    await this.#connector.verify(context);
    const start = formatPosition(epoch, { seq: firstSeq, messageHash: "" });
    const stored = messages.filter(({ position }) => position >= start);
    if (more && last.seq < firstSeq) return this.readOldest(context, request);
    if (more) return { messages: stored, gap: false, end: formatPosition(epoch, last), more };
    if (last.seq < seenSeq && seenSeq >= firstSeq) {
      await this.#confirmLoss(context, request.subject, last);
      return { messages: [], gap: true, end, more: false };
    }
    return { messages: stored, gap: false, end: laterOf(end, stored), more: false };
  }

  /**
   * Confirms that the server has lost the messages of a subject after an offset, after which this process had seen one.
   *
   * @throws StaleAnswerError if it has not: the answer before was of a server that had not received them yet
   */
  async #confirmLoss(context: JetStreamContext, subject: string, { seq }: StreamOffset): Promise<void> {
    const { stream } = this.#connector;
    if (stream.isReplicated) await stream.confirmEnd(context);
    if (await this.#nextMessage(context, subject, seq)) this.#rejectStaleAnswer();
  }

  /** Returns the messages of a subject after a stream sequence, and the offset of the last one. */
  async #readAfter(
    context: JetStreamContext,
    { subject, seq, limit }: { subject: string; seq: number; limit: ReadLimit },
  ): Promise<{ messages: Message[]; last: StreamOffset; more: boolean }> {
    const messages: Message[] = [];
    const { epoch } = context;
    let last: StreamOffset = { seq, messageHash: NO_MESSAGE_HASH };
    let batch: ReadMessage[] = [];
    // Messages of other programs count too, so that a read is bounded.
    for (let bytes = 0, count = 0; ; count++) {
      if (batch.length === 0 && count === SINGLE_READS) {
        const rest = { messages: limit.messages - count + 1, bytes: limit.bytes - bytes };
        batch = await this.#readBatch(context, { subject, startSeq: last.seq + 1, ...rest });
      }
      const next = batch.shift() ?? (await this.#nextMessage(context, subject, last.seq));
      if (!next) return { messages, last, more: false };
      bytes += next.bytes;
      if (count === limit.messages || (count > 0 && bytes > limit.bytes)) return { messages, last, more: true };
      last = { seq: next.seq, messageHash: hashMessageId(next.id) };
      this.#connector.stream.seenIn(epoch).record(subject, last);
      if (isBusMessageId(next.id)) messages.push({ position: formatPosition(epoch, last), data: next.text() });
      else this.#foreignData.report(`subject ${subject}`);
    }
  }

  async #readBatch(
    context: JetStreamContext,
    request: { subject: string; startSeq: number; messages: number; bytes: number },
  ): Promise<ReadMessage[]> {
    if (this.#batches >= MAX_BATCHES || request.messages <= 1) return [];
    // A batch is read from any server of a cluster, and single messages from its leader.
    if (this.#connector.stream.isReplicated && !keepsEqualCopies(context.connection.info)) return [];
    if (performance.now() < this.#batchesPausedUntilMs) return [];
    this.#batches++;
    try {
      const messages = await readBatch(context, { stream: this.#stream, ...request });
      if (!messages) this.#batchesPausedUntilMs = performance.now() + BATCH_PAUSE_MS;
      return messages ?? [];
    } finally {
      this.#batches--;
    }
  }

  async #nextMessage({ manager }: JetStreamContext, subject: string, seq: number): Promise<ReadMessage | null> {
    const query = { seq: seq + 1, next_by_subj: subject };
    const message = await manager.streams.getMessage(this.#stream, query);
    if (!message) return null;
    const id = readMessageId(() => message.header);
    return { seq: message.seq, id, bytes: message.data.length, text: () => message.string() };
  }

  /**
   * Returns whether the stream contains everything after an offset ("stored"), has removed the message at the
   * offset ("removed"), or has another message there because its last messages were lost ("replaced").
   */
  async #offsetState(
    { manager }: JetStreamContext,
    { seq, messageHash }: StreamOffset,
  ): Promise<"stored" | "removed" | "replaced"> {
    const get = () => (seq === 0 ? null : manager.streams.getMessage(this.#stream, { seq }));
    const message = await get();
    if (message) return offsetOf(message).messageHash === messageHash ? "stored" : "replaced";
    const { state } = await manager.streams.info(this.#stream);
    if (state.last_seq < seq) this.#rejectStaleAnswer();
    if (messageHash !== NO_MESSAGE_HASH) {
      // The stream removes messages at its start only. Otherwise, the server that has answered had not received it yet.
      if (state.first_seq <= seq && state.messages > 0 && (await get())) this.#rejectStaleAnswer();
      return "removed";
    }
    const isComplete = state.messages === 0 ? state.last_seq === seq : state.first_seq <= seq + 1;
    return isComplete ? "stored" : "removed";
  }

  /** Returns the offset of the last message. It is not before what this process has seen. */
  async #endOffset(context: JetStreamContext): Promise<StreamOffset> {
    const { endSeq } = this.#connector.stream.seenIn(context.epoch);
    const last = await context.manager.streams.getMessage(this.#stream, { last_by_subj: ">" });
    if (last) {
      if (last.seq < endSeq) this.#rejectStaleAnswer();
      return offsetOf(last);
    }
    const { state } = await context.manager.streams.info(this.#stream);
    if (state.last_seq < endSeq) this.#rejectStaleAnswer();
    // The first message was stored between the two requests: its offset needs its hash.
    if (state.messages > 0) return this.#endOffset(context);
    return { seq: state.last_seq, messageHash: NO_MESSAGE_HASH };
  }

  /** @throws StaleAnswerError, after which the operation is tried again. If the stream was set back, that is noticed then. */
  #rejectStaleAnswer(): never {
    this.#connector.recheckStream();
    throw new StaleAnswerError(this.#stream);
  }
}

/** Returns the end of a read without further messages: a message may have been stored after the end was read. */
function laterOf(end: Position, messages: readonly Message[]): Position {
  const last = messages.at(-1)?.position ?? end;
  return last > end ? last : end;
}

function offsetOf(message: StoredMsg): StreamOffset {
  return { seq: message.seq, messageHash: hashMessageId(readMessageId(() => message.header)) };
}

/** A message of the stream that was read. */
export interface ReadMessage {
  readonly seq: number;
  /** The `Nats-Msg-Id`, empty if there is none or if the headers are malformed. */
  readonly id: string;
  /** The size of the data in bytes. */
  readonly bytes: number;
  text(): string;
}

/** What one batch returns. */
export interface BatchRequest {
  readonly stream: string;
  readonly subject: string;
  /** The stream sequence from which on messages are read. */
  readonly startSeq: number;
  /** The maximum number of messages. */
  readonly messages: number;
  /** The maximum bytes of their data. */
  readonly bytes: number;
}

/** How long the server stores a consumer that could not be deleted, and how long a batch may take. */
const INACTIVE_THRESHOLD_MS = 5_000;
const BATCH_TIMEOUT_MS = 900;

/** What a message has besides its data, at most: subjects of 280 bytes, and its headers. */
const OVERHEAD_BYTES = 800;

/**
 * Reads the next messages of one subject with three requests, by a consumer that exists for one batch. It may return fewer
 * than there are: the caller reads the rest one by one, which also finds the end. It leaves none out between those that it
 * returns, except some that the stream has removed.
 *
 * @returns null if the server creates no consumer
 */
export async function readBatch(context: JetStreamContext, request: BatchRequest): Promise<ReadMessage[] | null> {
  const { stream, subject, startSeq } = request;
  const { consumers } = context.manager;
  try {
    const { name } = await consumers.add(stream, {
      ...{ ack_policy: "none", max_deliver: 1, filter_subject: subject },
      ...{ deliver_policy: "by_start_sequence", opt_start_seq: startSeq },
      ...{ mem_storage: true, num_replicas: 1, inactive_threshold: INACTIVE_THRESHOLD_MS * NS_PER_MS },
    });
    const messages = await pull(context, name, request);
    // If that fails, the server deletes it because nothing uses it.
    consumers.delete(stream, name).catch(() => undefined);
    return messages;
  } catch {
    return null; // a cluster without a leader creates no consumer, but may still answer single requests
  }
}

/** Requests messages from a consumer. Resolves with those that arrive before the first one that is missing. */
function pull(
  { connection, createInbox }: JetStreamContext,
  name: string,
  request: BatchRequest,
): Promise<ReadMessage[]> {
  const { stream, startSeq, messages, bytes } = request;
  return new Promise((resolve) => {
    const received: ReadMessage[] = [];
    const end = () => {
      clearTimeout(timer);
      subscription.unsubscribe();
      resolve(received);
    };
    const inbox = createInbox();
    const callback = (error: Error | null, message: Msg) => {
      const next = error ? null : readDelivery(message, received.length + 1, startSeq);
      if (next) received.push(next);
      // A message without a delivery is the status that ends the batch.
      if (!next || received.length >= messages) end();
    };
    const subscription = connection.subscribe(inbox, { callback });
    const timer = setTimeout(end, BATCH_TIMEOUT_MS);
    const options = { batch: messages, max_bytes: bytes + messages * OVERHEAD_BYTES, no_wait: true };
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, JSON.stringify(options), { reply: inbox });
  });
}

/**
 * Returns a message if it is the delivery with a consumer sequence, otherwise null. A consumer on a server of a cluster that
 * has not received the messages before `startSeq` starts with the first one that this server lacks, and receives it later.
 */
function readDelivery(message: Msg, consumerSequence: number, startSeq: number): ReadMessage | null {
  const delivery = parseDelivery(message.reply);
  if (delivery?.consumerSequence !== consumerSequence || delivery.streamSequence < startSeq) return null;
  const id = readMessageId(() => message.headers);
  return { seq: delivery.streamSequence, id, bytes: message.data.length, text: () => message.string() };
}
