import type { JetStreamManager, StreamConfig, StreamInfo } from "@nats-io/jetstream";
import type { Logger } from "../../logging/index.ts";
import { createEpoch } from "./epoch.ts";
import {
  epochFromCreated,
  hashMessageId,
  NO_MESSAGE_HASH,
  readMessageId,
  type StreamOffset,
  timeOfEpoch,
} from "./nats-position.ts";
import { checkStreamConfig, type ExpectedStream } from "./nats-stream-config.ts";

/** The configuration of a stream that may have to be created. */
export type NewStreamConfig = Pick<StreamConfig, "name" | "subjects"> & Partial<StreamConfig>;

/** The options of a {@link NatsStream}. */
export interface NatsStreamOptions {
  /** The host and port, for the log. */
  readonly nats: string;
  readonly log: Logger;
  /** For how long each message must stay stored, in nanoseconds. Absent: readers notice removed messages. */
  readonly keepNs?: number;
}

/** A message that a process has seen. */
interface SeenMessage {
  readonly epoch: string;
  readonly offset: StreamOffset;
}

/** The code of the server's error that a cluster has too few servers for the copies of a stream. */
const NO_SUITABLE_PEERS = 10_005;

/** The description of a stream that was set back contains its epoch; otherwise the epoch is the time of its creation. */
const DESCRIPTION = /^tsweb epoch ([0-9a-z]{13})$/;

/**
 * The stream of a bus. It is created if it does not exist.
 *
 * A server that was restored from a backup, or that lost its last messages in a power failure, continues the stream at
 * an earlier message. Readers behind that message could not notice what was lost. So a process that has seen a later
 * message starts a new epoch, which invalidates all earlier positions.
 */
export class NatsStream {
  readonly #config: NewStreamConfig;
  readonly #expected: ExpectedStream;
  readonly #nats: string;
  readonly #log: Logger;
  /** The epoch in use. */
  #epoch: string | undefined;
  /** The last message that this process has seen. */
  #lastSeen: SeenMessage | undefined;

  constructor(config: NewStreamConfig, { nats, log, keepNs }: NatsStreamOptions) {
    this.#config = config;
    this.#expected = { name: config.name, subjects: config.subjects, ...(keepNs === undefined ? {} : { keepNs }) };
    this.#nats = nats;
    this.#log = log;
  }

  /** Records a message that the server has stored. One of an earlier epoch, whose response was late, has no effect. */
  recordStored(epoch: string, offset: StreamOffset): void {
    if (epoch !== this.#epoch) return;
    const last = this.#lastSeen;
    if (last?.epoch !== epoch || last.offset.seq < offset.seq) this.#lastSeen = { epoch, offset };
  }

  /**
   * Returns the epoch of the stream. Creates the stream if necessary.
   *
   * @param replicas how many servers store each message if it is created
   * @throws ConfigError if the stream could lose messages without a gap
   */
  async open(manager: JetStreamManager, replicas: number): Promise<string> {
    // Before the request: during a fail-over, its response may lack messages that are stored in the meantime.
    const last = this.#lastSeen;
    const info = await findOrCreateStream(manager, { ...this.#config, num_replicas: replicas });
    checkStreamConfig(info.config, this.#expected);
    const epoch = epochOf(info);
    if (!(await this.#wasSetBack(manager, { info, last }))) return this.#use(epoch);
    const { name } = this.#config;
    this.#log.warn({ nats: this.#nats, stream: name }, "The stream was set back to an earlier state; feeds get a gap");
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

  #use(epoch: string): string {
    this.#epoch = epoch;
    return epoch;
  }

  /** Returns whether a message that this process had seen before is missing at the end, or was replaced. */
  async #wasSetBack(
    { streams }: JetStreamManager,
    { info, last }: { readonly info: StreamInfo; readonly last: SeenMessage | undefined },
  ): Promise<boolean> {
    if (last?.epoch !== epochOf(info)) return false;
    const { seq, messageHash } = last.offset;
    if (info.state.last_seq < seq) return true;
    const message = messageHash === NO_MESSAGE_HASH ? null : await streams.getMessage(this.#config.name, { seq });
    return message !== null && hashMessageId(readMessageId(() => message.header)) !== messageHash;
  }
}

/**
 * Returns the state of a stream. Creates it if it does not exist.
 *
 * @throws Error with the fix if the cluster has too few servers for its copies
 */
async function findOrCreateStream({ streams }: JetStreamManager, config: NewStreamConfig): Promise<StreamInfo> {
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
export function describeCreationError(error: unknown, { name, num_replicas: replicas = 1 }: NewStreamConfig): unknown {
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

function epochOf({ created, config }: StreamInfo): string {
  const epoch = epochFromCreated(created);
  const [, described = ""] = DESCRIPTION.exec(config.description ?? "") ?? [];
  return described > epoch ? described : epoch;
}
