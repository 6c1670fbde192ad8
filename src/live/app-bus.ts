import { type Bus, type BusSource, isMemoryBus, openBus, redisOf, startBus } from "../backends/index.ts";
import { markPublishFailure } from "../logging/index.ts";
import type { GapReason } from "../protocol/index.ts";

/** Receives each message that was published: its channel, and its data as JSON. It must not throw. */
export type OnPublished = (channel: string, json: string) => void;

/** An operation of a bus that is observed. It names no channel: channels may contain the ids of users. */
export type BusOperation =
  | { readonly name: "publish" /** The size of the message's data. */; readonly bytes: number }
  | { readonly name: "position" | "read" };

/** Runs an operation of a bus, and returns its result. */
export type ObserveOperation = <T>(operation: BusOperation, run: () => Promise<T>) => Promise<T>;

/** The operations with which live updates read a bus. */
export type BusReader = Pick<Bus, "position" | "read" | "watch">;

/** The state of a bus. `unknown`: a bus of the application that does not report it. */
export type BusState = "memory" | "reachable" | "unreachable" | "unknown";

/** The options of an {@link AppBus}. */
export interface AppBusOptions extends BusSource {
  /** Fingerprints of the application's secrets, current one first; empty without an application. */
  readonly fingerprints: readonly string[];
  /** Counts what is published. */
  readonly counts?: LiveCounts;
}

/** The bus of one application. It is opened on first use. */
export class AppBus {
  readonly #options: AppBusOptions;
  #bus: Bus | null = null;
  /** The application in a development server that has replaced this one. */
  #successor: AppBus | null = null;
  #isClosed = false;
  /** Set by the development server only, while its panel is open. */
  onPublished: OnPublished | undefined;
  /** Observes the operations; set while a tracing SDK is in use. */
  observe: ObserveOperation | undefined;

  constructor(options: AppBusOptions) {
    this.#options = options;
  }

  /** The bus in use; `null` before the first use and after {@link release}. */
  get current(): Bus | null {
    return this.#bus;
  }

  /** The state of the bus. Does not open it: until then, its server counts as reachable. */
  get state(): BusState {
    const bus = this.#inUse.#bus;
    if (!bus) return this.#inUse.#options.busUrl === undefined ? "memory" : "reachable";
    if (isMemoryBus(bus)) return "memory";
    const { isReachable } = bus;
    if (isReachable === undefined) return "unknown";
    return isReachable ? "reachable" : "unreachable";
  }

  /** The Redis of the bus; `undefined` if the bus is none in Redis. Does not open the bus. */
  get redis(): ReturnType<typeof redisOf> {
    return redisOf(this.#inUse.#bus, this.#inUse.#options);
  }

  /**
   * Returns the bus, and opens it on first use. Nothing is connected before its first operation.
   *
   * @throws Error after {@link close}: a request that has outlived its application must not open another connection,
   *   which nothing would close
   */
  open(): Bus {
    const inUse = this.#inUse;
    if (inUse.#isClosed) {
      throw new Error(
        "The application is closed: app.close() was called while a request or a timer still used live updates. " +
          "Await them before you close the application.",
      );
    }
    const bus = inUse.#bus ?? openBus(inUse.#options);
    if (bus !== inUse.#bus) inUse.set(bus);
    return bus;
  }

  /**
   * Publishes a message, as {@link Bus.publish}. Opens the bus on first use.
   *
   * @throws Error after {@link close}
   */
  async publish(channel: string, json: string): Promise<void> {
    const { observe } = this.#inUse;
    const { counts } = this.#inUse.#options;
    const publish = () => this.open().publish(channel, json);
    try {
      await (observe ? observe({ name: "publish", bytes: Buffer.byteLength(json) }, publish) : publish());
    } catch (error) {
      if (counts) counts.publishFailures++;
      markPublishFailure(error);
      throw error;
    }
    if (counts) counts.published++;
    this.#inUse.onPublished?.(channel, json);
  }

  /** Opens the bus as {@link open}, and returns the operations with which it is read. */
  openReader(): BusReader {
    const bus = this.open();
    const observed = <T>(operation: BusOperation, run: () => Promise<T>) =>
      this.observe ? this.observe(operation, run) : run();
    return {
      position: (channels) => observed({ name: "position" }, () => bus.position(channels)),
      read: (channel, after, limit) => observed({ name: "read" }, () => bus.read(channel, after, limit)),
      watch: (channel, listener) => bus.watch(channel, listener),
    };
  }

  /**
   * Checks the bus, unless it is in memory, for up to one second.
   *
   * @throws ConfigError if it cannot be used, for example because another application uses its namespace
   */
  async start(): Promise<void> {
    const inUse = this.#inUse;
    if (!inUse.#bus && inUse.#options.busUrl === undefined) return;
    const bus = this.open();
    if (bus.identify) await startBus(bus, { log: inUse.#options.log, isInUse: () => inUse.#bus === bus });
  }

  /** The application whose bus and settings count: this one, unless another one has replaced it. */
  get #inUse(): AppBus {
    return this.#successor ? this.#successor.#inUse : this;
  }

  /** Uses this bus from now on. The caller closes the previous one. */
  set(bus: Bus): void {
    const { fingerprints } = this.#options;
    if (fingerprints.length > 0) bus.identify?.(fingerprints);
    this.#bus = bus;
    this.#isClosed = false;
  }

  /** Stops using the bus, and returns it for the caller to close; `null` if there is none. */
  release(): Bus | null {
    const bus = this.#bus;
    this.#bus = null;
    return bus;
  }

  /** Stops using the bus, as {@link release}, and opens none again. */
  close(): Bus | null {
    this.#isClosed = true;
    return this.release();
  }

  /**
   * Uses the bus of another application from now on. If the other has no bus yet, the bus of this one is moved to it,
   * with its stored messages.
   */
  replaceBy(successor: AppBus): void {
    const bus = this.release();
    this.#successor = successor;
    if (bus && !successor.current) successor.set(bus);
    else if (bus && bus !== successor.current) void bus.close();
  }
}

/** What the live updates of one application have done since its start, for its metrics. */
export class LiveCounts {
  published = 0;
  /** Messages that the bus has refused, or not confirmed in time. */
  publishFailures = 0;
  delivered = 0;
  readonly gaps: Record<GapReason, number> = { trimmed: 0, reset: 0, expired: 0 };
}
