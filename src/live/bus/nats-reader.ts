import type { StoredMsg } from "@nats-io/jetstream";
import type { Message, Position, ReadLimit, ReadResult } from "./bus.ts";
import type { ForeignDataLog } from "./foreign-data.ts";
import type { JetStreamContext, NatsConnector } from "./nats-connector.ts";
import {
  formatPosition,
  hashMessageId,
  isBusMessageId,
  NO_MESSAGE_HASH,
  parsePosition,
  readMessageId,
  type StreamOffset,
} from "./nats-position.ts";

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

/** Reads the history of channels from the stream, and decides whether there is a gap. */
export class NatsReader {
  readonly #stream: string;
  readonly #connector: NatsConnector;
  readonly #foreignData: ForeignDataLog;

  constructor(stream: string, { connector, foreignData }: NatsReaderOptions) {
    this.#stream = stream;
    this.#connector = connector;
    this.#foreignData = foreignData;
  }

  /** Returns the position of the last message in the stream. */
  async endPosition(context: JetStreamContext): Promise<Position> {
    return formatPosition(context.epoch, await this.#endOffset(context));
  }

  /** Reads the messages of a subject after a position, as `Bus.read` does. */
  async read(context: JetStreamContext, request: ReadRequest): Promise<ReadResult> {
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
    if (offset.seq > endOffset.seq) return reset;
    if (offset.seq === endOffset.seq && offset.messageHash === endOffset.messageHash) return { ...gap, gap: false };
    const { messages, last } = await this.#readAfter(context, { ...request, seq: offset.seq });
    // Checked last, so that no message after the offset can have been removed during the read.
    const state = await this.#offsetState(context, offset);
    if (state !== "stored") return state === "removed" ? gap : reset;
    if (last) return { messages, gap: false, end: formatPosition(context.epoch, last), more: true };
    const lastPosition = messages.at(-1)?.position ?? end;
    return { messages, gap: false, end: lastPosition > end ? lastPosition : end, more: false };
  }

  /** Returns the messages of a subject after a stream sequence, and the offset of the last if there are more. */
  async #readAfter(
    { manager, epoch }: JetStreamContext,
    { subject, seq, limit }: { subject: string; seq: number; limit: ReadLimit },
  ): Promise<{ messages: Message[]; last?: StreamOffset }> {
    const messages: Message[] = [];
    let last: StreamOffset = { seq, messageHash: NO_MESSAGE_HASH };
    // Messages of other programs count too, so that a read is bounded.
    for (let bytes = 0, count = 0; ; count++) {
      const query = { seq: last.seq + 1, next_by_subj: subject };
      const next = await manager.streams.getMessage(this.#stream, query);
      if (!next) return { messages };
      bytes += next.data.length;
      if (count === limit.messages || (count > 0 && bytes > limit.bytes)) return { messages, last };
      last = offsetOf(next);
      if (isBusMessageId(readMessageId(() => next.header))) {
        messages.push({ position: formatPosition(epoch, last), data: next.string() });
      } else this.#foreignData.report(`subject ${subject}`);
    }
  }

  /**
   * Returns whether the stream contains everything after an offset ("stored"), has removed the message at the
   * offset ("removed"), or has another message there because its last messages were lost ("replaced").
   */
  async #offsetState(
    { manager }: JetStreamContext,
    { seq, messageHash }: StreamOffset,
  ): Promise<"stored" | "removed" | "replaced"> {
    const message = seq === 0 ? null : await manager.streams.getMessage(this.#stream, { seq });
    if (message) return offsetOf(message).messageHash === messageHash ? "stored" : "replaced";
    if (messageHash !== NO_MESSAGE_HASH) return "removed";
    const { state } = await manager.streams.info(this.#stream);
    const isComplete = state.messages === 0 ? state.last_seq === seq : state.first_seq <= seq + 1;
    return isComplete ? "stored" : "removed";
  }

  async #endOffset(context: JetStreamContext): Promise<StreamOffset> {
    const last = await context.manager.streams.getMessage(this.#stream, { last_by_subj: ">" });
    if (last) return offsetOf(last);
    const { state } = await context.manager.streams.info(this.#stream);
    // The first message was stored between the two requests: its offset needs its hash.
    if (state.messages > 0) return this.#endOffset(context);
    return { seq: state.last_seq, messageHash: NO_MESSAGE_HASH };
  }
}

function offsetOf(message: StoredMsg): StreamOffset {
  return { seq: message.seq, messageHash: hashMessageId(readMessageId(() => message.header)) };
}
