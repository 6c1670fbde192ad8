import { runOutsideRequests } from "../../http/index.ts";
import { keysFor, type VerifiedSession } from "../../session/index.ts";
import type { ChannelSubscription, Subscriber } from "../channel-subscription.ts";
import { channelTag } from "../feed.ts";
import { PagePlaces } from "../page-places.ts";
import { SIGN_OUTS } from "../presence-rooms.ts";
import { writeLimit } from "../write-limit.ts";
import type { QueryCall, QueryReader, ShownQuery } from "./definition.ts";
import type { QueryHub } from "./query-channels.ts";
import { processCache, processSlots, type RunSlots, type ValueCache } from "./query-limits.ts";
import { QueryReceiver } from "./query-receiver.ts";
import type { QueryHost } from "./query-run.ts";
import { type QueryRunner, QuerySeries } from "./query-series.ts";
import type { QueryVersion } from "./query-version.ts";
import type { SeriesValue } from "./series-result.ts";

const TICK_MS = 1_000;

/** How long the runs of a query are kept without receivers: a page that was loaded connects within that time. */
const IDLE_MS = 30_000;

/** How many sign-outs are read at once. */
const SIGN_OUT_LIMIT = writeLimit(1);

/** The options of {@link QueryRuns}. */
export interface QueryRunsOptions {
  readonly host: QueryHost;
  /** Returns the subscriptions of the application. */
  readonly hub: () => QueryHub;
  readonly runner: QueryRunner;
  /** By default, those of the process. */
  readonly slots?: RunSlots;
  readonly cache?: ValueCache;
}

/** The runs of one query with its arguments. */
interface Query {
  readonly call: QueryCall;
  /** By the id of the sign-in, of which a signed-out client has the empty one; `null` for the runs that all receivers share. */
  readonly series: Map<string | null, QuerySeries>;
  /** Whether a run has read the session: it runs for each sign-in from then on. */
  isPerSession: boolean;
  readonly receivers: Set<QueryReceiver>;
  usedAtMs: number;
}

/** Is called once a second while a connection receives values. */
export interface QueryConnections {
  tick(): void;
  /** Ends its queries, if it is of this sign-in. */
  signedOut(tag: string): void;
}

/** The queries of an application whose values this process sends to pages, or has sent a moment ago. */
export class QueryRuns implements QueryReader {
  /** The queries that each client has: it could otherwise make a process run and watch any number of them. */
  readonly places = new PagePlaces();
  readonly #options: QueryRunsOptions;
  readonly #slots: RunSlots;
  readonly #cache: ValueCache;
  readonly #runner: QueryRunner;
  readonly #queries = new Map<string, Query>();
  readonly #connections = new Set<QueryConnections>();
  #timer: NodeJS.Timeout | undefined;
  #signOuts: SignOuts | undefined;

  constructor(options: QueryRunsOptions) {
    this.#options = options;
    this.#slots = options.slots ?? processSlots;
    this.#cache = options.cache ?? processCache;
    this.#runner = options.runner;
  }

  get host(): QueryHost {
    return this.#options.host;
  }

  /** The number of queries, with different arguments. */
  get size(): number {
    return this.#queries.size;
  }

  /**
   * Returns the value of a query for a page that is rendered: of a run that sees everything that was published until now. Runs are
   * shared with all pages.
   *
   * @throws what the function has thrown; UnavailableError if the bus does not respond
   */
  async read(
    call: QueryCall,
    session: VerifiedSession | null,
    signal?: AbortSignal,
  ): Promise<{ json: string; version: string }> {
    for (;;) {
      const value: SeriesValue | "moved" = await this.#seriesFor(call, session).read(signal);
      if (value === "moved" || value.json === null) continue;
      return { json: value.json, version: value.version };
    }
  }

  /**
   * Sends the values of a query to a client from now on.
   *
   * @param client its sign-in, and the version of the value that it has
   * @param onNews called when the receiver has a frame
   * @returns the receiver, and a function that ends it
   */
  receive(
    call: QueryCall,
    client: { readonly version: QueryVersion | null; readonly session: VerifiedSession | null },
    onNews: (receiver: QueryReceiver) => void,
  ): { readonly receiver: QueryReceiver; readonly end: () => void } {
    return runOutsideRequests(() => {
      const receiver = new QueryReceiver(this.#seriesFor(call, client.session), client, onNews);
      const query = this.#queryOf(call);
      query.receivers.add(receiver);
      const end = () => {
        query.receivers.delete(receiver);
        query.usedAtMs = performance.now();
        receiver.close();
      };
      return { receiver, end };
    });
  }

  /** Adds a connection. It is ticked until it is removed. */
  addConnection(connection: QueryConnections): void {
    this.#connections.add(connection);
    this.#signOuts ??= runOutsideRequests(() => new SignOuts(this.#options.hub(), (tag) => this.signedOut(tag)));
    this.#startTicks();
  }

  removeConnection(connection: QueryConnections): void {
    this.#connections.delete(connection);
  }

  /** Logs a failure of the bus. */
  busFailed(error: unknown): void {
    this.#options.hub().busFailed(error);
  }

  /** Returns the values that pages show, for the development server. */
  shown(): readonly ShownQuery[] {
    const all = [...this.#queries.values()].flatMap(({ series }) => [...series.values()]);
    return all.map((series) => series.shown()).filter((shown) => shown !== null);
  }

  /** Ends what the pages of a sign-in receive. */
  signedOut(tag: string): void {
    for (const connection of [...this.#connections]) connection.signedOut(tag);
  }

  /** Ends all runs. What waits for them is rejected, or never answered. */
  close(): void {
    this.#stopTicks();
    for (const { series } of this.#queries.values()) for (const each of series.values()) each.close();
    this.#queries.clear();
    this.#connections.clear();
  }

  #queryOf(call: QueryCall): Query {
    const existing = this.#queries.get(call.id);
    const query = existing ?? { call, series: new Map(), isPerSession: false, receivers: new Set(), usedAtMs: 0 };
    query.usedAtMs = performance.now();
    if (!existing) this.#queries.set(call.id, query);
    this.#startTicks();
    return query;
  }

  #seriesFor(call: QueryCall, session: VerifiedSession | null): QuerySeries {
    const query = this.#queryOf(call);
    return this.#seriesOf(query, query.isPerSession ? session : undefined);
  }

  /** @param session `undefined` for the runs that all receivers share */
  #seriesOf(query: Query, session: VerifiedSession | null | undefined): QuerySeries {
    const key = session === undefined ? null : (session?.sid ?? "");
    const existing = query.series.get(key);
    if (existing) return existing;
    const { call } = query;
    const keys = keysFor(this.host.config, "feed");
    const series = new QuerySeries({
      ...{ call, session, runner: this.#runner, hub: this.#options.hub, slots: this.#slots, cache: this.#cache },
      tags: call.channels.map((channel) => channelTag(keys, channel)),
      onSession: () => this.#runPerSession(query),
      onDropped: () => this.#remove(query, key),
    });
    query.series.set(key, series);
    return series;
  }

  /** Runs a query for each sign-in from now on: no value of a run that has read one sign-in is sent to another. */
  #runPerSession(query: Query): void {
    query.isPerSession = true;
    const shared = query.series.get(null);
    query.series.delete(null);
    shared?.close();
    for (const receiver of query.receivers) receiver.moveTo(this.#seriesOf(query, receiver.session));
  }

  #remove(query: Query, key: string | null): void {
    query.series.get(key)?.close();
    query.series.delete(key);
  }

  #startTicks(): void {
    // Outside requests: otherwise the timer would keep the context of the first request alive.
    this.#timer ??= runOutsideRequests(() => setInterval(() => this.#tick(), TICK_MS).unref());
  }

  #stopTicks(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#signOuts?.close();
    this.#signOuts = undefined;
  }

  #tick(): void {
    const now = performance.now();
    for (const connection of [...this.#connections]) connection.tick();
    for (const query of this.#queries.values()) {
      for (const [key, { idleSinceMs }] of query.series) {
        if (idleSinceMs !== null && now - idleSinceMs >= IDLE_MS) this.#remove(query, key);
      }
      if (query.series.size === 0 && now - query.usedAtMs >= IDLE_MS) this.#queries.delete(query.call.id);
    }
    if (this.#queries.size + this.#connections.size === 0) this.#stopTicks();
  }
}

/** Notices the sign-outs of all processes, also those of while the bus was unreachable. */
class SignOuts implements Subscriber {
  readonly #hub: QueryHub;
  readonly #onSignedOut: (tag: string) => void;
  readonly #subscription: ChannelSubscription;
  /** The index of the next message; `null` until the bus has returned the end of the channel. */
  #nextIndex: number | null = null;

  /** @param onSignedOut called with the tag of a sign-in that has ended */
  constructor(hub: QueryHub, onSignedOut: (tag: string) => void) {
    this.#hub = hub;
    this.#onSignedOut = onSignedOut;
    this.#subscription = hub.subscribe(SIGN_OUTS, this);
    this.notify();
  }

  notify(): void {
    const { buffer } = this.#subscription;
    if (!buffer) return;
    // After a gap, sign-outs may have been missed: these connections end with their event streams.
    if (this.#nextIndex === null || !buffer.hasFrom(this.#nextIndex)) this.#nextIndex = buffer.endIndex;
    for (let more = true; more; ) {
      const messages = buffer.messagesFrom(this.#nextIndex, SIGN_OUT_LIMIT);
      this.#nextIndex += messages.length;
      for (const { data } of messages) this.#onSignedOut(JSON.parse(data)); // written by a process of the application
      more = messages.length > 0;
    }
  }

  close(): void {
    this.#hub.unsubscribe(SIGN_OUTS, this);
  }
}
