import type { JetStreamManager } from "@nats-io/jetstream";
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { JetStreamContext } from "./nats-connector.ts";
import { type DeliveryInfo, parseDelivery } from "./nats-position.ts";

/** How often the server says that it lives, and how long it may be silent. */
const HEARTBEAT_MS = 1_000;
const SILENCE_MS = 3_000;

/** How long the server is left alone after it refused to deliver. */
const REFUSED_MS = 250;

/** After how long the server forgets one to whom it delivers, and who is gone. */
const FORGET_MS = 30_000;

const MS = 1_000_000; // NATS counts in nanoseconds

/** Whom a {@link NatsConsumer} follows the stream for. */
export interface ConsumerHandlers {
  session(): Promise<JetStreamContext>;
  /** Hears a message of the stream, in its order, from some point on. */
  message(message: { subject: string; seq: number; id: string; data: string; epoch: string }): void;
  /** Is told that what it hears next need not follow on what it heard before. */
  lost(): void;
  /** Is told that it hears all from here on: something may have been missed before. */
  back(): void;
}

/** One run of deliveries. */
interface ActiveConsumer {
  readonly connection: NatsConnection;
  readonly subscription: Subscription;
  readonly epoch: string;
  /** How many messages were delivered in it. */
  count: number;
  /** The place of the last one in the stream; 0 before the first. */
  seq: number;
  heardAt: number;
}

/**
 * Follows the end of the stream: one consumer for a process, to which the server delivers in order.
 * Where a message is missing, or nothing is heard, it begins anew from the end and says so.
 */
export class NatsConsumer {
  readonly #stream: string;
  readonly #ear: ConsumerHandlers;
  #run: ActiveConsumer | undefined;
  #starting: Promise<void> | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(stream: string, ear: ConsumerHandlers) {
    this.#stream = stream;
    this.#ear = ear;
  }

  /**
   * Makes sure that what is published from now on is heard.
   *
   * @throws Error when the server is away
   */
  async ready(): Promise<void> {
    if (this.#run) return;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  /** Begins anew, if it had begun: what was heard may have ended. */
  restart(): void {
    const run = this.#run;
    if (!run) return;
    this.#run = undefined;
    run.subscription.unsubscribe();
    void this.#insist();
  }

  /** Follows no more. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watch);
    this.#run?.subscription.unsubscribe();
    this.#run = undefined;
  }

  /** Never rejects. */
  async #insist(): Promise<void> {
    while (!this.#isClosed && !this.#run) {
      try {
        await this.ready();
      } catch {
        // The connection has said so in the log.
        await new Promise((resolve) => setTimeout(resolve, REFUSED_MS).unref());
      }
    }
  }

  async #start(): Promise<void> {
    const session = await this.#ear.session();
    const { connection, epoch, manager } = session;
    const inbox = session.createInbox();
    this.#ear.lost();
    const callback = (error: Error | null, message: Msg) => {
      // A subscription that the server refuses ends with an error.
      if (error) this.#end(run);
      else this.#hear(run, message);
    };
    const subscription = connection.subscribe(inbox, { callback });
    const run: ActiveConsumer = { connection, subscription, epoch, count: 0, seq: 0, heardAt: performance.now() };
    try {
      await session.answer(manager.consumers.add(this.#stream, consumerTo(inbox)));
    } catch (error) {
      run.subscription.unsubscribe();
      throw error;
    }
    if (this.#isClosed) return run.subscription.unsubscribe();
    run.heardAt = performance.now();
    this.#run = run;
    this.#watch ??= setInterval(() => this.#check(), HEARTBEAT_MS).unref();
    this.#ear.back();
  }

  #hear(run: ActiveConsumer, message: Msg): void {
    run.heardAt = performance.now();
    if (message.headers?.code === 100) {
      this.#hearSignal(run, message);
      return;
    }
    const delivery = parseDelivery(message.reply);
    if (!delivery || !follows(delivery, run)) {
      this.#end(run);
      return;
    }
    run.count = delivery.count;
    run.seq = delivery.seq;
    const id = message.headers?.get("Nats-Msg-Id") ?? "";
    this.#ear.message({ subject: message.subject, seq: delivery.seq, id, data: message.string(), epoch: run.epoch });
  }

  /** The server lives, or asks whether we keep up. */
  #hearSignal(run: ActiveConsumer, message: Msg): void {
    const stalled = message.headers?.get("Nats-Consumer-Stalled");
    if (message.reply) message.respond();
    else if (stalled) run.connection.publish(stalled);
    const delivered = message.headers?.get("Nats-Last-Consumer");
    if (delivered && Number(delivered) !== run.count) this.#end(run);
  }

  #check(): void {
    if (this.#run && performance.now() - this.#run.heardAt > SILENCE_MS) this.restart();
  }

  #end(run: ActiveConsumer): void {
    if (this.#run === run) this.restart();
    else run.count = Number.NaN; // It has not begun yet: the first heartbeat ends it.
  }
}

/**
 * Answers whether nothing lies between a delivery and the last one. The server counts what it delivers,
 * and passes over what it gave up before we took it: where we are slow and the stream is full.
 */
function follows({ count, seq }: DeliveryInfo, run: ActiveConsumer): boolean {
  return count === run.count + 1 && (run.seq === 0 || seq === run.seq + 1);
}

function consumerTo(inbox: string): Parameters<JetStreamManager["consumers"]["add"]>[1] {
  return {
    ...{ deliver_subject: inbox, deliver_policy: "new", ack_policy: "none", max_deliver: 1 },
    ...{ flow_control: true, idle_heartbeat: HEARTBEAT_MS * MS, inactive_threshold: FORGET_MS * MS },
    ...{ mem_storage: true, num_replicas: 1 },
  };
}
