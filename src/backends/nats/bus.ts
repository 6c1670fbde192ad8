import { ConfigError, type ConfigProblem, resolveBusOptions } from "../../config/index.ts";
import { backgroundLog, createConsoleLogger, type Logger } from "../../logging/index.ts";
import {
  type Bus,
  createProducerId,
  DEFAULT_HOURS,
  type EntryListener,
  ForeignDataLog,
  type OutcomeStore,
  type Position,
  type PublishBatch,
  PublishQueue,
  type ReadLimit,
  type ReadResult,
  RetryPolicy,
  SecretsCheck,
  TopicListeners,
} from "../bus/index.ts";
import { type JetStreamContext, NatsConnector, type NatsStoreOptions } from "./connector.ts";
import { NatsConsumers } from "./consumers.ts";
import { natsOutcomes } from "./outcomes.ts";
import { encodeSubjectToken, formatMessageId, formatPosition, hashMessageId, isBusMessageId } from "./position.ts";
import { NatsPresence } from "./presence.ts";
import { NatsReader } from "./reader.ts";
import { NatsRevocations } from "./revocations.ts";
import { readFingerprints, secretsStreamName, storeFingerprints } from "./secrets.ts";
import { isNoResponders, isStreamFull, isStreamNotFound } from "./stream.ts";
import { NS_PER_MS } from "./stream-config.ts";

/** The options of {@link nats}. `hours`, `bytes` and `replicas` configure the stream if it does not exist yet. */
export interface NatsOptions {
  /**
   * `nats://…` or `tls://…`, with `user:password@` or `token@` before the host and `?namespace=shop` after it. Of a cluster:
   * one host or several, separated by commas.
   */
  readonly url: string;
  /**
   * A part of the name of the stream and of every subject, which separates applications on one server: 1 to 64 letters,
   * digits, `-` and `_`. Default: the namespace in the URL, or the `name` in package.json.
   */
  readonly namespace?: string;
  /**
   * How long messages are stored, in hours, at least 1/120 (30 seconds). Default: 24.5, half an hour longer than a feed is
   * valid.
   */
  readonly hours?: number;
  /** The maximum bytes of all channels together. Default: 512 MiB. */
  readonly bytes?: number;
  /** How many servers of a cluster store each message, from 1 to 5. Default: 3 in a cluster. */
  readonly replicas?: number;
  /** Receives a line when the server becomes unreachable or reachable. Default: standard error. */
  readonly log?: Logger;
}

/** How long `publish` waits for the server. */
const PUBLISH_TIMEOUT_MS = 10_000;

/** How long the server detects duplicate message ids, in a stream that this bus creates, and in any that it uses. */
const DUPLICATE_WINDOW_MS = 120_000;
const MIN_DUPLICATE_WINDOW_MS = 30_000;

/** How long before the end of that time a message is sent for the last time: clocks and requests take some of it. */
const RESEND_MARGIN_MS = 10_000;

const REFUSED =
  "NATS refuses a consumer with filter_subjects. This process receives the messages of all channels, which costs more CPU " +
  "time. Use the same version on all servers of the cluster.";

/**
 * Returns a bus for any number of processes, on a NATS server with JetStream, 2.9 or later. It connects at
 * its first use, and reconnects whenever the connection is lost.
 *
 * All channels share one stream with file storage, so that messages survive a crash of the server. When the
 * stream is full, the server removes the oldest messages of all channels. If a stream of that name exists
 * already, it is used with its own configuration.
 *
 * The NATS client packages must be installed: `npm install @nats-io/transport-node @nats-io/jetstream`.
 * Without them, every operation rejects with a `ConfigError`.
 *
 * @param options the URL, or the URL and further options
 * @throws TypeError if the URL, the namespace or `hours` is not valid
 * @example realtime.use_bus(nats("nats://localhost:4222"));
 */
export function nats(options: string | NatsOptions): Bus {
  return new NatsBus(typeof options === "string" ? { url: options } : options);
}

class NatsBus implements Bus {
  readonly revocations: NatsRevocations;
  readonly presence: NatsPresence;
  readonly outcomes: OutcomeStore;
  readonly #connector: NatsConnector;
  readonly #consumers: NatsConsumers;
  readonly #reader: NatsReader;
  readonly #publishQueue: PublishQueue;
  readonly #retryPolicy = new RetryPolicy(isTransientError);
  readonly #listeners = new TopicListeners();
  readonly #secretsCheck: SecretsCheck;
  readonly #subjectPrefix: string;
  readonly #namespace: string;
  /** Distinguishes the message ids of this bus from those of all others. */
  readonly #producerId = createProducerId();
  #closing: Promise<void> | undefined;

  constructor({ hours = DEFAULT_HOURS, bytes = 512 * 1024 ** 2, replicas, log, ...options }: NatsOptions) {
    const { url, namespace } = resolveBusOptions(options, "nats");
    this.#namespace = namespace;
    const stream = `tsweb-live-${namespace}`;
    this.#subjectPrefix = `tsweb.live.${namespace}.`;
    const logger = backgroundLog(log ?? createConsoleLogger());
    const maxAgeMs = hours * 3_600_000;
    if (!(maxAgeMs >= MIN_DUPLICATE_WINDOW_MS)) {
      throw new TypeError(
        `The option hours of nats must be at least ${MIN_DUPLICATE_WINDOW_MS / 3_600_000} (30 seconds); received ${hours}. ` +
          "The server detects messages that are sent again for at most that time.",
      );
    }
    // No channel has this subject: base64url text has two characters or more.
    const markerSubject = `${this.#subjectPrefix}-`;
    this.#connector = new NatsConnector(url, {
      stream: {
        ...{ name: stream, subjects: [`${this.#subjectPrefix}*`], storage: "file" },
        ...{ max_age: Math.round(maxAgeMs) * NS_PER_MS, max_bytes: bytes, discard: "old" },
        ...{ duplicate_window: Math.min(DUPLICATE_WINDOW_MS, maxAgeMs) * NS_PER_MS },
        // Messages are removed from the start of the stream only. So if the message at a position is stored,
        // all messages after it are stored too.
        ...{ deny_delete: true, deny_purge: true },
      },
      markerSubject,
      minDuplicateWindowNs: MIN_DUPLICATE_WINDOW_MS * NS_PER_MS,
      replicas,
      log: logger,
      beforeUse: () => this.#secretsCheck.run(),
      onReset: () => {
        this.#consumers.restart();
        this.presence.restart();
      },
    });
    this.#secretsCheck = new SecretsCheck({
      ...{ namespace, log: logger, deleteCommand: `nats stream rm ${secretsStreamName(namespace)}` },
      store: async (fingerprints) => storeFingerprints(await this.#connector.connect(), fingerprints, namespace),
    });
    const { address } = this.#connector;
    const run: NatsStoreOptions["run"] = (operation) => this.#run(operation);
    this.revocations = new NatsRevocations({ namespace, address, log: logger, run });
    this.presence = new NatsPresence({ namespace, run });
    this.outcomes = natsOutcomes({ namespace, run });
    const foreignData = new ForeignDataLog(logger, { nats: this.#connector.address });
    this.#reader = new NatsReader(stream, { connector: this.#connector, foreignData });
    this.#consumers = new NatsConsumers(stream, {
      barrierSubject: markerSubject,
      context: () => this.#connector.context(),
      inspect: async () => {
        const context = await this.#connector.context();
        return context.untilDisconnect(this.#connector.stream.inspect(context));
      },
      publishBarrier: async () => {
        const context = await this.#connector.context();
        return context.untilDisconnect(this.#connector.stream.confirmEnd(context));
      },
      isNeeded: (subject) => this.#listeners.has(subject),
      onStopped: () => this.#connector.invalidateStream(),
      onEnd: (epoch, seq) => this.#connector.stream.seenIn(epoch).recordEnd(seq),
      onResumed: (subjects) => {
        for (const subject of subjects ?? this.#listeners.topics) this.#listeners.deliver(subject);
      },
      onMessage: ({ subject, seq, id, data, epoch }) => {
        if (!isBusMessageId(id)) return foreignData.report(`subject ${subject}`);
        const offset = { seq, messageHash: hashMessageId(id) };
        const position = formatPosition(epoch, offset);
        this.#connector.stream.seenIn(epoch).record(subject, offset);
        this.#listeners.deliver(subject, { position, data });
      },
      onProgress: ({ seq, id, epoch }, subjects) => {
        if (!isBusMessageId(id)) return;
        const position = formatPosition(epoch, { seq, messageHash: hashMessageId(id) });
        for (const subject of subjects ?? this.#listeners.topics) this.#listeners.deliver(subject, { position });
      },
      onUnexpected: () => foreignData.report("the subject of a consumer"),
      onRefused: () => logger.warn({ nats: this.#connector.address }, REFUSED),
    });
    // One message at a time, sent when the one before is stored: the server keeps the order of what one connection sends,
    // but not across a change of the cluster's leader. A leader that was frozen can store a message after its successor has
    // stored later ones. The server drops it if the message was stored before under its id, so it is sent until then.
    this.#publishQueue = new PublishQueue({
      send: this.#send,
      isTransient: isTransientError,
      maxBatchMessages: 1,
      timeoutMs: PUBLISH_TIMEOUT_MS,
      resendMs: () => this.#connector.stream.duplicateWindowMs - RESEND_MARGIN_MS,
      onUnconfirmed: () => this.#reportUnconfirmed(logger),
    });
  }

  identify(fingerprints: readonly string[]): void {
    if (this.#secretsCheck.add(fingerprints)) this.#connector.invalidateStream();
  }

  get isReachable(): boolean {
    return this.#connector.isReachable;
  }

  async check(): Promise<readonly ConfigProblem[]> {
    return this.#retryPolicy.run(async () => {
      await this.#connector.checkStream();
      await this.revocations.check(await this.#connector.connect());
      return this.#connector.clusterProblems();
    });
  }

  storedFingerprints(): Promise<readonly string[]> {
    return this.#retryPolicy.run(async () => readFingerprints(await this.#connector.connect(), this.#namespace));
  }

  get publish(): Bus["publish"] {
    return this.#publishQueue.publish;
  }

  position(channels: readonly string[]): Promise<Position[]> {
    return this.#run(async (context) => {
      const end = await this.#reader.endPosition(context);
      return channels.map(() => end);
    });
  }

  read(channel: string, after: Position, limit: ReadLimit): Promise<ReadResult> {
    return this.#run((context) => this.#reader.read(context, { subject: this.#subjectOf(channel), after, limit }));
  }

  readOldest(channel: string, limit: ReadLimit): Promise<ReadResult> {
    return this.#run((context) => this.#reader.readOldest(context, { subject: this.#subjectOf(channel), limit }));
  }

  async watch(channel: string, listener: EntryListener): Promise<() => void> {
    const subject = this.#subjectOf(channel);
    const remove = this.#listeners.add(subject, listener);
    try {
      await this.#run(() => this.#consumers.cover(subject));
    } catch (error) {
      remove();
      throw error;
    }
    return () => void remove();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#publishQueue.close();
    this.#retryPolicy.close();
    this.#secretsCheck.close();
    this.#listeners.clear();
    this.#consumers.close();
    this.presence.close();
    await this.#connector.close();
  }

  /** Logs that a message may be stored after later ones, without its channel: channels may contain the ids of users. */
  #reportUnconfirmed(log: Logger): void {
    const seconds = (this.#connector.stream.duplicateWindowMs - RESEND_MARGIN_MS) / 1000;
    const message =
      `NATS has not confirmed a message for ${seconds} s. Later messages of its channel are sent now. If a server was ` +
      "frozen for so long, it can still store the message, after later ones or a second time.";
    log.error({ nats: this.#connector.address }, message);
  }

  readonly #send = async ({ channel, number, data }: PublishBatch, onSent: () => void): Promise<Position[]> => {
    const [text] = data;
    if (text === undefined || data.length > 1) throw new Error("A batch for NATS has to contain one message.");
    const msgID = formatMessageId(this.#producerId, number);
    const subject = this.#subjectOf(channel);
    const { jetStream, epoch, untilDisconnect } = await this.#connector.context();
    const seen = this.#connector.stream.seenIn(epoch);
    const { endSeq } = seen;
    onSent();
    try {
      const { seq, duplicate } = await untilDisconnect(jetStream.publish(subject, text, { msgID }));
      // A leader knows the id of a message from the start, but its sequence only once most of the servers have stored it.
      if (seq === 0) throw new Error("NATS has received the message, and has not stored it yet.");
      const offset = { seq, messageHash: hashMessageId(msgID) };
      if (seq <= endSeq && !duplicate) return [formatPosition(await this.#newEpoch(), offset)];
      seen.record(subject, offset);
      return [formatPosition(epoch, offset)];
    } catch (error) {
      // Without a responder, the stream was deleted, or JetStream is not ready yet.
      if (isNoResponders(error)) this.#connector.invalidateStream();
      throw error;
    }
  };

  /**
   * Returns the epoch of a stream that has stored a message before one that this process had seen: it was created again, or
   * set back.
   */
  async #newEpoch(): Promise<string> {
    this.#connector.invalidateStream();
    return (await this.#connector.context()).epoch;
  }

  #run<T>(operation: (context: JetStreamContext) => Promise<T>): Promise<T> {
    return this.#retryPolicy.run(async () => {
      try {
        const context = await this.#connector.context();
        return await context.untilDisconnect(operation(context));
      } catch (error) {
        if (isStreamNotFound(error)) this.#connector.invalidateStream();
        throw error;
      }
    });
  }

  #subjectOf(channel: string): string {
    return this.#subjectPrefix + encodeSubjectToken(channel);
  }
}

/**
 * Returns whether an error is transient: NATS is unreachable, or about to be ready. If it refused a request
 * for another reason, it would refuse it again.
 */
function isTransientError(error: unknown): boolean {
  if (error instanceof ConfigError) return false;
  if (!(error instanceof Error)) return true;
  if (error.name === "JetStreamApiError") return "status" in error && error.status === 503 && !isStreamFull(error);
  return error.name !== "AuthorizationError" && error.name !== "PermissionViolationError";
}
