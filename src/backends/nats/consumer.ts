import type { JetStreamManager } from "@nats-io/jetstream";
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { JetStreamContext } from "./connector.ts";
import { type DeliveryInfo, parseDelivery, readMessageId } from "./position.ts";

/** How often an idle server sends a heartbeat, and how long without one until the consumer is replaced. */
const HEARTBEAT_MS = 1_000;
const HEARTBEAT_TIMEOUT_MS = 3_000;

/** How long to wait before creating a consumer again after the server refused it. */
const RECREATE_DELAY_MS = 250;

/** After how long the server removes a consumer whose subscriber is disconnected. */
const INACTIVE_THRESHOLD_MS = 30_000;

/** How many messages a consumer that continues after the one before receives first at most. */
const MAX_MISSED_MESSAGES = 50_000;

const NANOSECONDS = 1_000_000; // per millisecond

/** The status of heartbeats and flow control requests. */
const CONTROL_MESSAGE = 100;

/** A message of the stream, as the server delivered it. */
export interface DeliveredMessage {
  readonly subject: string;
  readonly seq: number;
  /** The `Nats-Msg-Id`, empty if there is none or if the headers are malformed. */
  readonly id: string;
  readonly data: string;
  readonly epoch: string;
}

/** The callbacks of a {@link NatsConsumer}. None may throw, except `context`, which may reject. */
export interface ConsumerHandlers {
  context(): Promise<JetStreamContext>;
  /** Called when deliveries have stopped: the stream may have been deleted. */
  onStopped(): void;
  /** Called with a sequence that the stream has reached. Messages after it are delivered. */
  onEnd(epoch: string, seq: number): void;
  /** Called with each message of the stream, in order: with all that were published since the last `onResumed`. */
  onMessage(message: DeliveredMessage): void;
  /** Called when all messages published from now on are delivered. Earlier ones may have been missed. */
  onResumed(): void;
  /** Called when the subscription has received something that cannot be processed. */
  onUnexpected(): void;
}

/** A consumer on the server, and the subscription to its deliveries. */
interface ActiveConsumer {
  readonly connection: NatsConnection;
  readonly subscription: Subscription;
  readonly epoch: string;
  /** The consumer sequence of the last delivery; NaN if a delivery was missing before it was active. */
  consumerSequence: number;
  /** The stream sequence of the last delivery; 0 before the first. */
  streamSequence: number;
  /** Whether it continues after {@link NatsConsumer}'s last delivery, so that nothing is missed. */
  readonly isContinuation: boolean;
  lastActivityMs: number;
}

/**
 * Receives the new messages of the stream, in order: one ordered push consumer for the process. If a message
 * is missing, or the server sends no heartbeat, the consumer is replaced by a new one. It continues with the last
 * delivery, so that nothing has to be read, unless too much was missed or the stream has another epoch. Then it starts at
 * the end of the stream.
 */
export class NatsConsumer {
  readonly #stream: string;
  readonly #handlers: ConsumerHandlers;
  #active: ActiveConsumer | undefined;
  /** The last delivery, after which the next consumer continues; undefined if it has to start at the end. */
  #last: { readonly epoch: string; seq: number; id: string } | undefined;
  #starting: Promise<void> | undefined;
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(stream: string, handlers: ConsumerHandlers) {
    this.#stream = stream;
    this.#handlers = handlers;
  }

  /**
   * Starts the consumer if it is not active. When it resolves, every message published from then on is
   * delivered.
   *
   * @throws Error if the server is unreachable
   */
  async start(): Promise<void> {
    if (this.#active) return;
    this.#starting ??= this.#create().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  /** Replaces the consumer, if it is active: it may have missed messages. */
  restart(): void {
    const active = this.#active;
    if (!active) return;
    this.#active = undefined;
    active.subscription.unsubscribe();
    this.#handlers.onStopped();
    void this.#startUntilActive();
  }

  /** Stops receiving messages. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeatTimer);
    this.#active?.subscription.unsubscribe();
    this.#active = undefined;
  }

  /** Never rejects. */
  async #startUntilActive(): Promise<void> {
    while (!this.#isClosed && !this.#active) {
      try {
        await this.start();
      } catch {
        // The connector has logged it.
        await new Promise((resolve) => setTimeout(resolve, RECREATE_DELAY_MS).unref());
      }
    }
  }

  async #create(): Promise<void> {
    const context = await this.#handlers.context();
    const { connection, epoch, manager } = context;
    const inbox = context.createInbox();
    const callback = (error: Error | null, message: Msg) => {
      // If the server refuses the subscription, the callback gets an error.
      if (error) return this.#discard(consumer);
      try {
        this.#receive(consumer, message);
      } catch {
        // An error that is thrown here would end the reading of the connection. Any client of the server can
        // publish to the subject of the subscription.
        this.#handlers.onUnexpected();
        this.#discard(consumer);
      }
    };
    const subscription = connection.subscribe(inbox, { callback });
    const last = this.#last?.epoch === epoch ? this.#last : undefined;
    const consumer: ActiveConsumer = {
      ...{ connection, subscription, epoch, isContinuation: last !== undefined },
      ...{ consumerSequence: 0, streamSequence: 0, lastActivityMs: performance.now() },
    };
    try {
      const added = manager.consumers.add(this.#stream, consumerConfig(inbox, last?.seq));
      const { delivered, num_pending } = await context.untilDisconnect(added);
      if (last && num_pending > MAX_MISSED_MESSAGES) {
        this.#last = undefined;
        throw new Error(`The consumer has missed ${num_pending} messages.`); // the next attempt starts at the end
      }
      if (Number.isNaN(consumer.consumerSequence)) throw new Error("A delivery of the consumer is missing.");
      // What was delivered before it is active is read after onResumed.
      if (!last) this.#handlers.onEnd(epoch, Math.max(delivered.stream_seq, consumer.streamSequence));
    } catch (error) {
      subscription.unsubscribe();
      throw error;
    }
    if (this.#isClosed) return subscription.unsubscribe();
    consumer.lastActivityMs = performance.now();
    this.#active = consumer;
    this.#heartbeatTimer ??= setInterval(() => this.#checkHeartbeat(), HEARTBEAT_MS).unref();
    if (!last) this.#handlers.onResumed();
  }

  #receive(consumer: ActiveConsumer, message: Msg): void {
    consumer.lastActivityMs = performance.now();
    const delivery = parseDelivery(message.reply);
    // The headers of a stored message are its publisher's, also if they look like those of a control message.
    if (!delivery && message.headers?.code === CONTROL_MESSAGE) {
      this.#receiveControlMessage(consumer, message);
      return;
    }
    if (!delivery || !isNextDelivery(delivery, consumer)) {
      this.#discard(consumer);
      return;
    }
    const { consumerSequence, streamSequence: seq } = delivery;
    consumer.consumerSequence = consumerSequence;
    consumer.streamSequence = seq;
    const id = readMessageId(() => message.headers);
    if (consumer.isContinuation && consumerSequence === 1) {
      // It starts with the last delivery again. On a server whose copy differs, another message has this sequence.
      if (this.#last?.seq === seq && this.#last.id === id) return;
      this.#last = undefined; // the next consumer starts at the end
      this.#discard(consumer);
      return;
    }
    // Messages before those of a new consumer may be missing. Its first ones are read with them, after onResumed.
    if ((this.#active !== consumer && !consumer.isContinuation) || this.#isClosed) return;
    const { epoch } = consumer;
    if (this.#last?.epoch === epoch) Object.assign(this.#last, { seq, id });
    else this.#last = { epoch, seq, id };
    this.#handlers.onMessage({ subject: message.subject, seq, id, data: message.string(), epoch });
  }

  /** Responds to a flow control request, and compares the sequence in a heartbeat with that of the last delivery. */
  #receiveControlMessage(consumer: ActiveConsumer, message: Msg): void {
    const stalled = message.headers?.get("Nats-Consumer-Stalled");
    if (message.reply) message.respond();
    else if (stalled) consumer.connection.publish(stalled);
    const lastSequence = message.headers?.get("Nats-Last-Consumer");
    if (lastSequence && Number(lastSequence) !== consumer.consumerSequence) this.#discard(consumer);
  }

  #checkHeartbeat(): void {
    if (this.#active && performance.now() - this.#active.lastActivityMs > HEARTBEAT_TIMEOUT_MS) this.restart();
  }

  #discard(consumer: ActiveConsumer): void {
    if (this.#active === consumer) this.restart();
    else consumer.consumerSequence = Number.NaN; // not active yet: its first heartbeat discards it
  }
}

/**
 * Returns whether a delivery follows directly on the last one. The consumer sequence reveals deliveries that
 * were lost on the way. The stream sequence reveals messages that were removed from a full stream before a
 * slow consumer got them.
 */
function isNextDelivery(delivery: DeliveryInfo, { consumerSequence, streamSequence }: ActiveConsumer): boolean {
  const isNextInStream = streamSequence === 0 || delivery.streamSequence === streamSequence + 1;
  return delivery.consumerSequence === consumerSequence + 1 && isNextInStream;
}

/** @param lastSeq the stream sequence of the last delivery, with which it starts; undefined to start at the end */
function consumerConfig(inbox: string, lastSeq?: number): Parameters<JetStreamManager["consumers"]["add"]>[1] {
  return {
    ...{ deliver_subject: inbox, ack_policy: "none", max_deliver: 1 },
    ...(lastSeq === undefined
      ? { deliver_policy: "new" }
      : { deliver_policy: "by_start_sequence", opt_start_seq: lastSeq }),
    ...{ flow_control: true, idle_heartbeat: HEARTBEAT_MS * NANOSECONDS },
    ...{ inactive_threshold: INACTIVE_THRESHOLD_MS * NANOSECONDS },
    ...{ mem_storage: true, num_replicas: 1 },
  };
}
