import type { StoredMsg } from "@nats-io/jetstream";
import type { Logger } from "../../logging/index.ts";
import {
  KEEP_SECONDS,
  type LogPosition,
  type Revocation,
  type RevocationRead,
  type RevocationStore,
  SUBJECT_PATTERN,
} from "../../revocation/index.ts";
import { createProducerId } from "../bus/index.ts";
import type { ConnectionContext, NatsStoreOptions } from "./connector.ts";
import { formatMessageId, hashMessageId, isBusMessageId, readMessageId } from "./position.ts";
import { NatsStream, StaleAnswerError } from "./stream.ts";
import { NS_PER_MS } from "./stream-config.ts";

const NS_PER_SECOND = 1_000 * NS_PER_MS;

/** How long the server detects duplicate message ids: far longer than an entry is sent again. */
const DUPLICATE_WINDOW_SECONDS = 120;

/** How many entries are requested together. */
const BATCH = 200;

/** The options of {@link NatsRevocations}. */
export interface NatsRevocationsOptions extends NatsStoreOptions {
  /** The host and port, for the log. */
  readonly address: string;
  readonly log: Logger;
}

/** Returns the name of the stream with the revocations of a namespace. */
export function revocationsStreamName(namespace: string): string {
  return `tsweb-revoked-${namespace}`;
}

/**
 * The store of revocations in NATS: a stream with file storage, whose sequence is the `seq` of the entries. A stream that was
 * set back starts a new epoch, as that of the messages does.
 */
export class NatsRevocations implements RevocationStore {
  readonly #options: NatsRevocationsOptions;
  readonly #name: string;
  readonly #subject: string;
  readonly #stream: NatsStream;
  readonly #producerId = createProducerId();
  #lastNumber = 0;

  constructor(options: NatsRevocationsOptions) {
    const { namespace, address, log } = options;
    this.#options = options;
    this.#name = revocationsStreamName(namespace);
    this.#subject = `tsweb.revoked.${namespace}`;
    this.#stream = new NatsStream(
      {
        ...{ name: this.#name, subjects: [this.#subject], storage: "file", discard: "old" },
        ...{ max_age: KEEP_SECONDS * NS_PER_SECOND, duplicate_window: DUPLICATE_WINDOW_SECONDS * NS_PER_SECOND },
        ...{ deny_delete: true, deny_purge: true },
      },
      // Nobody notices a revocation that is removed too early: the session would be accepted again.
      { nats: address, log, markerSubject: this.#subject, keepNs: KEEP_SECONDS * NS_PER_SECOND },
    );
  }

  /**
   * Checks the stream, without creating it.
   *
   * @throws ConfigError if it could lose revocations
   */
  check({ manager, untilDisconnect }: ConnectionContext): Promise<void> {
    return untilDisconnect(this.#stream.check(manager));
  }

  async append(subject: string): Promise<void> {
    const msgID = formatMessageId(this.#producerId, ++this.#lastNumber); // a retry is not stored again
    await this.#options.run(async (context) => {
      const { jetStream, untilDisconnect } = context;
      const epoch = await this.#stream.open(context);
      const { seq } = await untilDisconnect(jetStream.publish(this.#subject, subject, { msgID }));
      if (seq === 0) throw new Error("NATS has received the revocation, and has not stored it yet.");
      this.#stream.seenIn(epoch).record(this.#subject, { seq, messageHash: hashMessageId(msgID) });
    });
  }

  read(after: LogPosition | null): Promise<RevocationRead> {
    return this.#options.run(async (context) => {
      const { manager, untilDisconnect } = context;
      const epoch = await this.#stream.open(context);
      const { endSeq } = this.#stream.seenIn(epoch);
      const { state } = await untilDisconnect(manager.streams.info(this.#name));
      if (state.last_seq < endSeq) throw new StaleAnswerError(this.#name);
      this.#stream.seenIn(epoch).recordEnd(state.last_seq);
      const from = Math.max(after?.epoch === epoch ? after.seq + 1 : 1, state.first_seq);
      const entries: Revocation[] = [];
      for (let seq = from; seq <= state.last_seq; seq += BATCH) {
        const seqs = Array.from({ length: Math.min(BATCH, state.last_seq - seq + 1) }, (_, index) => seq + index);
        const get = (number: number) => manager.streams.getMessage(this.#name, { seq: number });
        const messages = await untilDisconnect(Promise.all(seqs.map(get)));
        for (const message of messages) this.#add(message, epoch, entries);
        const lastMissing = seqs.findLast((_, index) => messages[index] === null);
        if (lastMissing === undefined) continue;
        // Removed by its age, or not received yet by the server that has answered.
        const { state: later } = await untilDisconnect(manager.streams.info(this.#name));
        if (later.first_seq <= lastMissing) throw new StaleAnswerError(this.#name);
      }
      return { epoch, entries, end: state.last_seq };
    });
  }

  /** Adds an entry. A message that was removed by its age is `null`; one of another program is ignored. */
  #add(message: StoredMsg | null, epoch: string, entries: Revocation[]): void {
    if (message === null) return;
    const id = readMessageId(() => message.header);
    const subject = message.string();
    if (!isBusMessageId(id) || !SUBJECT_PATTERN.test(subject)) return;
    this.#stream.seenIn(epoch).record(this.#subject, { seq: message.seq, messageHash: hashMessageId(id) });
    entries.push({ subject, seq: message.seq });
  }
}
