import { setTimeout as pause } from "node:timers/promises";
import {
  type Bus,
  type BusSource,
  type EntryListener,
  isMemoryBus,
  type OutcomeStore,
  openBus,
  type Position,
  redisOf,
  startBus,
} from "../backends/index.ts";
import { markPublishFailure } from "../logging/index.ts";
import { isLater, START } from "../protocol/index.ts";
import type { BusReader } from "./channel-subscription.ts";
import { PresenceRooms, SIGN_OUTS } from "./presence-rooms.ts";
import type { LiveCounts, SubscriptionHub } from "./subscription-hub.ts";

/** Receives each message that was published: its channel, and its data as JSON. It must not throw. */
export type OnPublished = (channel: string, json: string) => void;

/** An operation of a bus that is observed. It names no channel: channels may contain the ids of users. */
export type BusOperation =
  | { readonly name: "publish" /** The size of the message's data. */; readonly bytes: number }
  | { readonly name: "position" | "read" };

/** Runs an operation of a bus, and returns its result. */
export type ObserveOperation = <T>(operation: BusOperation, run: () => Promise<T>) => Promise<T>;

/** A listener of a channel, which stays when the bus of the application is replaced. */
interface Watch {
  readonly channel: string;
  readonly listener: EntryListener;
  /** Removes it from the bus; `null` while it is on none. */
  stop: (() => void) | null;
}

/** How long to wait before a listener is added to a new bus again, or a sign-out is published again, after that has failed. */
const RETRY_MS = 1_000;

/** How long a sign-out is published again: after that, no event stream from before it is open. */
const SIGN_OUT_MS = 300_000;

/** The state of a bus. `unknown`: a bus of the application that does not report it. */
export type BusState = "memory" | "reachable" | "unreachable" | "unknown";

/** The options of an {@link AppBus}. */
export interface AppBusOptions extends BusSource {
  /** Fingerprints of the application's secrets, current one first; empty without an application. */
  readonly fingerprints: readonly string[];
  /** Counts what is published. */
  readonly counts?: LiveCounts;
  /** Returns the hub of the application, and creates it at the first call. */
  readonly openHub?: () => SubscriptionHub;
}

/** The bus of one application. It is opened on first use. */
export class AppBus {
  readonly #options: AppBusOptions;
  #bus: Bus | null = null;
  /** The application in a development server that has replaced this one. */
  #successor: AppBus | null = null;
  #isClosed = false;
  readonly #watches = new Set<Watch>();
  #presence: PresenceRooms | null = null;
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
   * Publishes a message, as {@link Bus.publish}, and returns its position. Opens the bus on first use.
   *
   * @throws Error after {@link close}
   */
  async publish(channel: string, json: string): Promise<Position> {
    const { observe } = this.#inUse;
    const { counts } = this.#inUse.#options;
    const publish = () => this.open().publish(channel, json);
    let position: Position;
    try {
      position = await (observe ? observe({ name: "publish", bytes: Buffer.byteLength(json) }, publish) : publish());
    } catch (error) {
      if (counts) counts.publishFailures++;
      markPublishFailure(error);
      throw error;
    }
    if (counts) counts.published++;
    this.#inUse.onPublished?.(channel, json);
    return position;
  }

  /**
   * Returns the subscriptions of the application.
   *
   * @throws Error after {@link close}
   */
  openHub(): SubscriptionHub {
    this.open();
    const hub = this.#inUse.#options.openHub?.();
    if (hub) return hub;
    throw new Error("There is no application whose messages can be received. Create it with new App.");
  }

  /**
   * Opens the bus as {@link open}, and returns the operations with which it is read: always the bus that is in use then. When
   * it is replaced, the listeners are added to the new one, and called without an entry.
   */
  openReader(): BusReader {
    this.open();
    const observed = <T>(operation: BusOperation, run: (bus: Bus) => Promise<T>) =>
      this.observe ? this.observe(operation, () => run(this.open())) : run(this.open());
    return {
      position: async (channels) => observed({ name: "position" }, (bus) => bus.position(channels)),
      read: async (channel, after, limit) =>
        observed({ name: "read" }, (bus) =>
          after === START ? requireReadOldest(bus)(channel, limit) : bus.read(channel, after, limit),
        ),
      watch: (channel, listener) => this.#inUse.#watch({ channel, listener, stop: null }),
    };
  }

  /**
   * Calls `onMessage` with the data of each message of a channel whose `publish` starts after this has resolved, or with `null`
   * when messages may have been missed, until the bus is closed.
   *
   * @throws Error if the bus did not respond in time
   */
  async follow(channel: string, onMessage: (json: string | null) => void): Promise<void> {
    const reader = this.openReader();
    let last: Position | undefined;
    const stop = await reader.watch(channel, (entry) => {
      const isMissed = !entry || (entry.data !== undefined && isBehind(last, entry.after));
      last = entry?.position;
      if (isMissed) onMessage(null);
      else if (entry.data !== undefined) onMessage(entry.data);
    });
    try {
      const [position] = await reader.position([channel]);
      last ??= position;
    } catch (error) {
      stop();
      throw error;
    }
  }

  async #watch(watch: Watch): Promise<() => void> {
    this.#watches.add(watch);
    const remove = () => {
      this.#inUse.#watches.delete(watch);
      watch.stop?.();
    };
    try {
      await this.#addToBus(watch);
    } catch (error) {
      remove();
      throw error;
    }
    return remove;
  }

  /** Adds a listener to the bus in use. A bus that replaces it meanwhile gets it by {@link #moveToBus}. */
  async #addToBus(watch: Watch): Promise<void> {
    const bus = this.open();
    const stop = await bus.watch(watch.channel, watch.listener);
    if (bus === this.#inUse.#bus && this.#inUse.#watches.has(watch)) watch.stop = stop;
    else stop();
  }

  /** Adds a listener to the bus that has replaced another one, and notifies it that messages may be missing. Never rejects. */
  async #moveToBus(watch: Watch): Promise<void> {
    watch.stop?.();
    watch.stop = null;
    const bus = this.#inUse.#bus;
    while (bus !== null && bus === this.#inUse.#bus && this.#inUse.#watches.has(watch)) {
      try {
        await this.#addToBus(watch);
        watch.listener();
        return;
      } catch {
        // The read that the listener makes fails too, and is logged.
        await pause(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /**
   * Opens the bus as {@link open}, and returns the channels in which somebody is present.
   *
   * @throws Error if the bus does not store who is present
   */
  get presence(): PresenceRooms {
    const inUse = this.#inUse;
    const bus = this.open();
    if (inUse.#presence?.bus === bus) return inUse.#presence;
    const { presence: store } = bus;
    if (!store) {
      throw new Error(
        "presence: the bus that realtime.use_bus has installed does not store who is present. Implement the property " +
          "presence of Bus, or use redis(url) of tsweb/redis or nats(url) of tsweb/nats.",
      );
    }
    const presence = new PresenceRooms({ bus, store, log: inUse.#options.log });
    inUse.#presence = presence;
    return presence;
  }

  /**
   * Opens the bus as {@link open}, and returns where the outcomes of idempotent functions are kept.
   *
   * @throws Error if the bus does not keep them
   */
  get outcomes(): OutcomeStore {
    const { outcomes } = this.open();
    if (outcomes) return outcomes;
    throw new Error(
      "server({ idempotent: true }): the bus that realtime.use_bus has installed does not keep outcomes. Implement the property " +
        "outcomes of Bus, or use redis(url) of tsweb/redis or nats(url) of tsweb/nats.",
    );
  }

  /**
   * Removes the pages of a sign-in from all channels at once, and notifies the other processes, which also end its live queries: again
   * while the bus does not respond. Never rejects.
   */
  async signedOut(tag: string): Promise<void> {
    for (const startMs = performance.now(); performance.now() - startMs < SIGN_OUT_MS; ) {
      const inUse = this.#inUse;
      // The bus in memory is of this process only, so nothing is to be done if nobody was present here.
      if (inUse.#isClosed || (inUse.state === "memory" && !inUse.#presence)) return;
      try {
        const bus = this.open();
        if (bus.presence) this.presence.removeSignIn(tag);
        await bus.publish(SIGN_OUTS, JSON.stringify(tag));
        return;
      } catch (error) {
        inUse.#presence?.busFailed(error);
        await pause(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Ends all presence of this process, while the bus is open. */
  async closePresence(): Promise<void> {
    await this.#presence?.close();
    this.#presence = null;
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
    const isReplaced = bus !== this.#bus;
    this.#bus = bus;
    this.#isClosed = false;
    if (isReplaced) for (const watch of this.#watches) void this.#moveToBus(watch);
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
    this.#watches.clear();
    return this.release();
  }

  /**
   * Uses the bus of another application from now on. If the other has no bus yet, the bus of this one is moved to it,
   * with its stored messages.
   */
  replaceBy(successor: AppBus): void {
    const bus = this.release();
    this.#successor = successor;
    successor.#presence ??= this.#presence;
    this.#presence = null;
    if (bus && !successor.current) successor.set(bus);
    const isReplaced = bus !== successor.current;
    for (const watch of this.#watches) {
      successor.#watches.add(watch);
      if (isReplaced) void successor.#moveToBus(watch);
    }
    this.#watches.clear();
    if (isReplaced) void bus?.close();
  }
}

/** Returns whether there may be a message between a position up to which everything was received, and the next message. */
function isBehind(last: Position | undefined, after: Position | undefined): boolean {
  return last !== undefined && after !== undefined && isLater(after, last);
}

/**
 * Returns the method `readOldest` of a bus.
 *
 * @throws Error for a bus of the application that has none
 */
export function requireReadOldest(bus: Bus): NonNullable<Bus["readOldest"]> {
  if (bus.readOldest) return bus.readOldest.bind(bus);
  throw new Error(
    'The bus has no method readOldest, which { from: "start" } needs. The buses of tsweb have it. Add it to the bus that ' +
      "realtime.use_bus has installed.",
  );
}
