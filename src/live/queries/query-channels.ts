import type { Position, ReadResult } from "../../backends/index.ts";
import { START } from "../../protocol/index.ts";
import { waitAtMost } from "../../reconnect.ts";
import type { ChannelSubscription, Subscriber } from "../channel-subscription.ts";
import type { SubscriptionHub } from "../subscription-hub.ts";

/** What queries use of the hub. */
export type QueryHub = Pick<SubscriptionHub, "subscribe" | "unsubscribe" | "positions" | "read" | "busFailed">;

/** How much is read to learn whether a channel has a message after a position. */
const ONE_MESSAGE = { messages: 1, bytes: 1 } as const;

/** How often a bus that has returned neither a message nor the end of the channel is read again. */
const MAX_READS = 8;

/** How long the bus may take. */
const BUS_TIMEOUT_MS = 2_000;

/** The channels of a query in this process: their positions, and whether one of them has changed. */
export class QueryChannels implements Subscriber {
  readonly #names: readonly string[];
  readonly #hub: () => QueryHub;
  readonly #onNotified: () => void;
  /** The hub to which it has subscribed; `null` while nobody receives the query's values. */
  #subscribedTo: QueryHub | null = null;
  #subscriptions: readonly ChannelSubscription[] = [];
  /** The index of the next message of each channel, when their positions were taken last; `null` before. */
  #marked: readonly number[] | null = null;

  /** @param onNotified called when a channel may have changed, at most once in a turn of the event loop for each */
  constructor(names: readonly string[], hub: () => QueryHub, onNotified: () => void) {
    this.#names = names;
    this.#hub = hub;
    this.#onNotified = onNotified;
  }

  notify(): void {
    this.#onNotified();
  }

  /** Subscribes to the channels, unless that was done. */
  subscribe(): void {
    if (this.#subscribedTo) return;
    const hub = this.#hub();
    this.#subscribedTo = hub;
    this.#subscriptions = this.#names.map((name) => hub.subscribe(name, this));
  }

  unsubscribe(): void {
    for (const name of this.#names) this.#subscribedTo?.unsubscribe(name, this);
    this.#subscribedTo = null;
    this.#subscriptions = [];
    this.#marked = null;
  }

  /** Whether this process receives the messages of all channels: it knows their positions without reading the bus. */
  get isLive(): boolean {
    return this.#subscribedTo !== null && this.#subscriptions.every(({ buffer }) => buffer !== null);
  }

  /** Resolves when {@link isLive}. @throws Error if the bus does not respond in time; it is tried again */
  async whenLive(): Promise<void> {
    await Promise.all(this.#subscriptions.map((subscription) => subscription.buffer ?? subscription.start()));
    if (!this.isLive) throw new Error("The bus did not return the positions of the channels of a query.");
  }

  /** Whether a channel has got a message, or a gap, since {@link take}: false before. */
  get hasChanged(): boolean {
    return this.#marked !== null && this.#indexes().some((index, i) => index !== this.#marked?.[i]);
  }

  /** Whether {@link take} has been called since the subscription. */
  get isMarked(): boolean {
    return this.#marked !== null;
  }

  /**
   * Returns the positions of all channels at this moment. Everything that was published up to them was committed before a run that
   * begins in this turn. If a channel is not live, use {@link read}.
   */
  take(): readonly Position[] {
    this.#marked = this.#indexes();
    return this.#subscriptions.map(({ buffer }) => buffer?.end ?? START);
  }

  /** Reads the positions of all channels from the bus, in one operation. @throws Error if it does not respond in time */
  read(): Promise<readonly Position[]> {
    return inTime(this.#hub().positions(this.#names));
  }

  /**
   * Returns whether a channel has a message after its position. A gap counts as one.
   *
   * @param options.askBus whether the bus is read even if this process receives the messages: it may have stored one that has not
   *   arrived yet
   * @throws Error if the bus does not respond in time
   */
  async havePassed(positions: readonly Position[], { askBus }: { readonly askBus: boolean }): Promise<boolean> {
    const passed = await Promise.all(
      this.#names.map((name, i) => {
        const position = positions[i] ?? START;
        return this.#knowsPassed(i, position, askBus) ?? this.#hasPassed(name, position);
      }),
    );
    return passed.includes(true);
  }

  /** Returns whether a channel has passed a position without a read of the bus; `null` if it has to be read. */
  #knowsPassed(i: number, position: Position, askBus: boolean): boolean | null {
    if (position === START) return true;
    const buffer = this.#subscriptions[i]?.buffer;
    const index = buffer?.indexAfter(position) ?? null;
    if (!buffer || index === null) return null;
    if (index < buffer.endIndex) return true;
    return askBus ? null : false;
  }

  async #hasPassed(name: string, position: Position): Promise<boolean> {
    let after = position;
    for (let reads = 0; reads < MAX_READS; reads++) {
      const { gap, messages, more, end }: ReadResult = await inTime(this.#hub().read(name, after, ONE_MESSAGE));
      if (gap || messages.length > 0) return true;
      if (!more) return false;
      after = end;
    }
    return true; // unsure: an unnecessary run is harmless
  }

  #indexes(): readonly number[] {
    return this.#subscriptions.map(({ buffer }) => buffer?.endIndex ?? 0);
  }
}

async function inTime<T extends object>(operation: Promise<T>): Promise<T> {
  const result = await waitAtMost(operation, BUS_TIMEOUT_MS, null);
  if (result !== null) return result;
  throw new Error(`The bus did not return the positions of a query within ${BUS_TIMEOUT_MS / 1_000} s.`);
}
