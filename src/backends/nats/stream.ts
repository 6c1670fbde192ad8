import type { JetStreamClient, JetStreamManager, StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { ConfigError } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { coalesce } from "../../reconnect.ts";
import { createEpoch, createProducerId } from "../bus/index.ts";
import {
  epochFromCreated,
  formatMessageId,
  hashMessageId,
  NO_MESSAGE_HASH,
  readMessageId,
  type StreamOffset,
  timeOfEpoch,
} from "./position.ts";
import { checkStreamConfig, type ExpectedStream, NS_PER_MS } from "./stream-config.ts";

/** The code of the server's error that another message was stored in the meantime. */
const WRONG_LAST_SEQUENCE = 10_071;

/** The code of the server's error that a message could not be stored, for any reason. */
const STORE_FAILED = 10_077;

/** The configuration of a stream that may have to be created. */
export type NewStreamConfig = Pick<StreamConfig, "name" | "subjects"> & Partial<StreamConfig>;

/** The options of a {@link NatsStream}. */
export interface NatsStreamOptions {
  /** The host and port, for the log. */
  readonly nats: string;
  readonly log: Logger;
  /** A subject of the stream for messages that nobody reads: see {@link NatsStream.confirmEnd}. */
  readonly markerSubject: string;
  /** For how long each message must stay stored, in nanoseconds. Absent: readers notice removed messages. */
  readonly keepNs?: number;
  /** For how long the stream must detect a message that is sent again, in nanoseconds. */
  readonly minDuplicateWindowNs?: number;
}

/** The objects with which a stream is used. */
export interface StreamContext {
  readonly manager: JetStreamManager;
  readonly jetStream: JetStreamClient;
  /** How many servers store each message of a stream that is created. */
  readonly replicas: number;
}

/** The state of a stream. */
export interface StreamState {
  readonly epoch: string;
  /** The sequence of the first message that is stored; if there is none, of the next one. */
  readonly firstSeq: number;
  /** The sequence of the last message, also if it is not stored any more. */
  readonly lastSeq: number;
  /** The time of this state by the clock of the server, in milliseconds since the Unix epoch; NaN if it is not known. */
  readonly atMs: number;
  /** How many bytes and messages are stored at most; Infinity if there is no limit. */
  readonly maxBytes: number;
  readonly maxMessages: number;
}

/** The code of the server's error that a cluster has too few servers for the copies of a stream. */
const NO_SUITABLE_PEERS = 10_005;

/** How often at most a message is stored only to know the end of the stream: clients choose their positions. */
const CONFIRM_INTERVAL_MS = 1_000;

/** The description of a stream that was set back contains its epoch; otherwise the epoch is the time of its creation. */
const DESCRIPTION = /^tsweb epoch ([0-9a-z]{13})$/;

/** An answer of a server of the cluster that has not received everything that is stored. Another one will follow. */
export class StaleAnswerError extends Error {
  constructor(stream: string) {
    super(`A server of NATS has answered with an earlier state of the stream ${stream}.`);
    this.name = "StaleAnswerError";
  }
}

/**
 * The stream of a bus. It is created if it does not exist.
 *
 * A server that was restored from a backup, or that lost its last messages in a power failure, continues the stream at
 * an earlier message. Readers behind that message could not notice what was lost. So a process that has seen a later
 * message starts a new epoch, which invalidates all earlier positions.
 *
 * In a cluster, that needs more than one answer. A server that was frozen while another one became the leader still answers
 * as the leader for a moment, and so does a new leader that has not yet processed everything.
 */
export class NatsStream {
  readonly #config: NewStreamConfig;
  readonly #expected: ExpectedStream;
  readonly #options: NatsStreamOptions;
  readonly #producerId = createProducerId();
  #lastMarker = 0;
  /** The epoch in use. */
  #epoch: string | undefined;
  #seen = new SeenMessages();
  #info: StreamInfo | undefined;
  /** An epoch in which the stream had settings with which it can lose messages. */
  #unusableEpoch: string | undefined;

  constructor(config: NewStreamConfig, options: NatsStreamOptions) {
    this.#config = config;
    this.#expected = { ...options, name: config.name, subjects: config.subjects };
    this.#options = options;
  }

  /** The messages of this epoch that this process has seen. */
  get seen(): SeenMessages {
    return this.#seen;
  }

  /** For how long the stream detects a message that is sent again, in milliseconds. Known once it was opened. */
  get duplicateWindowMs(): number {
    return (this.#info?.config.duplicate_window ?? 0) / NS_PER_MS;
  }

  /** Whether several servers have a copy, so that one of them can answer with an earlier state. */
  get isReplicated(): boolean {
    return (this.#info?.config.num_replicas ?? 1) > 1;
  }

  /** Returns what this process has seen in an epoch. A response of an earlier one, which was late, has no effect. */
  seenIn(epoch: string): SeenMessages {
    return epoch === this.#epoch ? this.#seen : new SeenMessages();
  }

  /**
   * Returns the epoch of the stream. Creates the stream if necessary.
   *
   * @throws ConfigError if the stream could lose messages without a gap; StaleAnswerError if the answer was too old
   */
  async open(context: StreamContext): Promise<string> {
    const { manager, replicas } = context;
    const { name } = this.#config;
    // Before the request: during a fail-over, its response may lack messages that are stored in the meantime.
    const { last, endSeq } = this.#seen;
    const info = await findOrCreateStream(manager, { ...this.#config, num_replicas: replicas });
    this.#checkConfig(info);
    this.#info = info;
    const epoch = epochOf(info);
    const reason = await this.#reasonForNewEpoch(context, { info, last, endSeq });
    if (reason === undefined) return this.#use(epoch);
    this.#options.log.warn({ nats: this.#options.nats, stream: name }, `${reason}; feeds get a gap`);
    // Greater than the epoch before, also if the server's clock is ahead of this one.
    const newEpoch = createEpoch(Math.max(Date.now(), timeOfEpoch(epoch) + 1));
    await manager.streams.update(name, { description: `tsweb epoch ${newEpoch}` });
    // Another process may have started another epoch at the same time: the one that is stored counts.
    return this.#use(epochOf(await manager.streams.info(name)));
  }

  /**
   * Checks the stream without creating it.
   *
   * @throws ConfigError if the stream could lose messages without a gap
   */
  async check({ streams }: JetStreamManager): Promise<void> {
    const info = await streams.info(this.#config.name).catch((error: unknown) => {
      if (isStreamNotFound(error)) return null;
      throw error;
    });
    if (info) checkStreamConfig(info.config, this.#expected);
  }

  /**
   * Checks that the stream in use still has its epoch, and settings that the bus can use, at a time after the call.
   *
   * @returns whether it has its epoch
   * @throws ConfigError if the stream could lose messages without a gap
   */
  async isUnchanged(context: StreamContext): Promise<boolean> {
    const epoch = this.#epoch;
    return (await this.inspect(context)).epoch === epoch;
  }

  /**
   * Returns the state of the stream at a time after the call.
   *
   * @throws ConfigError if the stream could lose messages without a gap
   */
  readonly inspect = coalesce(async ({ manager }: StreamContext): Promise<StreamState> => {
    const info = await manager.streams.info(this.#config.name);
    this.#checkConfig(info);
    const { state, config } = info;
    return {
      epoch: epochOf(info),
      firstSeq: state.first_seq,
      lastSeq: state.last_seq,
      // The client has no type for it. Servers before NATS 2.10 do not send it.
      atMs: "ts" in info ? Date.parse(String(info.ts)) : Number.NaN,
      maxBytes: limitOf(config.max_bytes),
      maxMessages: limitOf(config.max_msgs),
    };
  });

  /**
   * Stores a message that nobody reads, and returns its sequence, at most once a second. Most of the servers have to confirm
   * it: so it is after all messages that were stored before the call, whichever server answers.
   *
   * @throws Error if most of the servers do not respond
   */
  readonly confirmEnd = coalesce(async ({ jetStream }: StreamContext): Promise<number> => {
    const epoch = this.#epoch;
    const msgID = formatMessageId(this.#producerId, ++this.#lastMarker);
    const subject = this.#options.markerSubject;
    const { seq } = await jetStream.publish(subject, "", { msgID });
    if (epoch !== undefined) this.seenIn(epoch).record(subject, { seq, messageHash: hashMessageId(msgID) });
    return seq;
  }, CONFIRM_INTERVAL_MS);

  #use(epoch: string): string {
    if (epoch !== this.#epoch) this.#seen = new SeenMessages();
    this.#epoch = epoch;
    return epoch;
  }

  #checkConfig(info: StreamInfo): void {
    try {
      checkStreamConfig(info.config, this.#expected);
    } catch (error) {
      if (error instanceof ConfigError) this.#unusableEpoch = epochOf(info);
      throw error;
    }
  }

  /** Returns why positions of the current epoch could miss messages, or undefined if they cannot. */
  async #reasonForNewEpoch(
    context: StreamContext,
    { info, last, endSeq }: { readonly info: StreamInfo } & Pick<SeenMessages, "last" | "endSeq">,
  ): Promise<string | undefined> {
    const epoch = epochOf(info);
    if (epoch === this.#unusableEpoch) return "The stream had settings with which it can lose messages";
    if (epoch !== this.#epoch) {
      if (this.#epoch !== undefined && epoch < this.#epoch) throw new StaleAnswerError(info.config.name);
      return undefined;
    }
    const isOlder = info.state.last_seq < endSeq;
    const isMissing = isOlder && (!this.isReplicated || (await this.confirmEnd(context)) <= endSeq);
    return isMissing || (await this.#isReplaced(context, last))
      ? "The stream was set back to an earlier state"
      : undefined;
  }

  /** Returns whether another message has the sequence of one that this process has seen. */
  async #isReplaced({ manager }: StreamContext, last: SeenMessages["last"]): Promise<boolean> {
    const message = last ? await manager.streams.getMessage(this.#config.name, { seq: last.seq }) : null;
    return message !== null && hashMessageId(readMessageId(() => message.header)) !== last?.messageHash;
  }
}

/**
 * Returns the state of a stream. Creates it if it does not exist.
 *
 * @throws Error with the fix if the cluster has too few servers for its copies
 */
export async function findOrCreateStream({ streams }: JetStreamManager, config: NewStreamConfig): Promise<StreamInfo> {
  try {
    return await streams.info(config.name);
  } catch (error) {
    if (!isStreamNotFound(error)) throw error;
  }
  try {
    return await streams.add(config);
  } catch (error) {
    // Another process may have created it in the meantime, with another configuration, which then counts.
    return streams.info(config.name).catch(() => {
      throw describeCreationError(error, config);
    });
  }
}

/** Returns the error of a stream that could not be created. */
function describeCreationError(error: unknown, { name, num_replicas: replicas = 1 }: NewStreamConfig): unknown {
  if (replicas === 1 || !(error instanceof Error) || !("code" in error) || error.code !== NO_SUITABLE_PEERS)
    return error;
  return new Error(
    `The stream ${name} needs ${replicas} servers of the NATS cluster with JetStream, and fewer are running. Start ` +
      "them, or store fewer copies: realtime.use_bus(nats({ url, replicas: 1 })).",
    { cause: error },
  );
}

/** Returns whether an error is the server's response that the stream does not exist. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === "StreamNotFoundError";
}

/** Returns whether a message was not stored because another one of its subject was, in the meantime. */
export function isWrongLastSequence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === WRONG_LAST_SEQUENCE;
}

/** Returns whether a message was not stored because its stream is full and drops none. Only the message names that reason. */
export function isStreamFull(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && error.code === STORE_FAILED && /maximum bytes/.test(error.message)
  );
}

/** Returns whether nobody has received a message: its stream may not exist any more. */
export function isNoResponders(error: unknown): boolean {
  return error instanceof Error && ["JetStreamNotEnabled", "NoRespondersError"].includes(error.name);
}

/** Returns a limit of a stream: 0 and -1 are none. */
function limitOf(limit: number): number {
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

function epochOf({ created, config }: StreamInfo): string {
  const epoch = epochFromCreated(created);
  const [, described = ""] = DESCRIPTION.exec(config.description ?? "") ?? [];
  return described > epoch ? described : epoch;
}

/** Of how many subjects the last message is known at most. */
const MAX_SUBJECTS = 10_000;

/**
 * What this process knows of a stream in its current epoch: the messages that it has seen are stored. In a cluster, a server
 * that was frozen, or has just become the leader, can answer with an older state. Such an answer contradicts what is
 * recorded here.
 */
export class SeenMessages {
  /** The last message that this process has seen. */
  #last: StreamOffset | undefined;
  #endSeq = 0;
  /** The sequence of the last message of each subject that this process has seen, least recent first. */
  readonly #lastOfSubject = new Map<string, number>();

  /** The last message that was seen. Its hash is known. */
  get last(): StreamOffset | undefined {
    return this.#last;
  }

  /** The greatest sequence that the stream is known to have reached; 0 if none is known. */
  get endSeq(): number {
    return this.#endSeq;
  }

  /** Records a message that the server has stored. */
  record(subject: string, offset: StreamOffset): void {
    if (offset.messageHash !== NO_MESSAGE_HASH && offset.seq > (this.#last?.seq ?? 0)) this.#last = offset;
    this.recordEnd(offset.seq);
    const seq = Math.max(offset.seq, this.lastOf(subject));
    this.#lastOfSubject.delete(subject);
    this.#lastOfSubject.set(subject, seq);
    if (this.#lastOfSubject.size <= MAX_SUBJECTS) return;
    for (const oldest of this.#lastOfSubject.keys()) {
      this.#lastOfSubject.delete(oldest);
      return;
    }
  }

  /** Records that the stream has reached a sequence. */
  recordEnd(seq: number): void {
    if (seq > this.#endSeq) this.#endSeq = seq;
  }

  /** Returns the sequence of the last message of a subject that was seen; 0 if none is known. */
  lastOf(subject: string): number {
    return this.#lastOfSubject.get(subject) ?? 0;
  }
}
