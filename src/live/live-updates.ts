import type { BusSource } from "../backends/index.ts";
import {
  CONNECTION_CLOSE,
  type HandlerResponse,
  isPromise,
  PRIVATE_NO_CACHE,
  type RequestContext,
  RequestError,
  requireSameOrigin,
  textResponse,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { BUILD_HEADER, BUILD_ID, isLivePath, LIVE_PATH, POLL_PATH } from "../protocol/index.ts";
import {
  type ConcurrencyLimit,
  CountLimit,
  clientKey,
  memoryRateStore,
  retryAdvice,
  STREAM_RETRY_SECONDS,
} from "../rate-limit/index.ts";
import { secretFingerprints, sessionTag } from "../session/index.ts";
import { AppBus, type ObserveOperation, type OnPublished } from "./app-bus.ts";
import { processApps } from "./app-registry.ts";
import { publishTo } from "./channel.ts";
import { handleEventStream } from "./event-stream.ts";
import { handlePresence } from "./handle-presence.ts";
import { handlePoll } from "./poll.ts";
import { type PresenceInput, readPresenceTokens } from "./presence-rooms.ts";
import type { LiveQueries } from "./queries/live-queries.ts";
import { openQueries } from "./queries/query.ts";
import type { QueryHost } from "./queries/query-run.ts";
import { RequestMemory } from "./request-memory.ts";
import { type LiveConnection, LiveCounts, SubscriptionHub } from "./subscription-hub.ts";
import { readSubscriptionRequest, type SubscriptionKind, type SubscriptionRequest } from "./subscription-request.ts";

/**
 * How often one client may poll or open an event stream. A page polls at most twice a second, and opens an event stream
 * every 5 minutes. Such a request is cheap to send, but it reads the bus, and its response may be a hundred times its
 * size.
 */
const LIVE_LIMIT = new CountLimit("live", { calls: 600, seconds: 60 }, "one client");

const KINDS: ReadonlyMap<string, SubscriptionKind> = new Map([
  [LIVE_PATH, "live"],
  [POLL_PATH, "poll"],
]);

/** The options of {@link LiveUpdates}. */
export interface LiveUpdatesOptions {
  /** The settings with which the bus is opened, unless `realtime.use_bus` has installed one. */
  readonly bus: Omit<BusSource, "log">;
  readonly log: AppLog;
  /** The secrets of the application, current one first. The bus stores fingerprints of them. */
  readonly secrets: readonly Uint8Array[];
  /** Limits the event streams and polls that a client has open. Above the limit, polls wait for at most 10 seconds. */
  readonly connectionLimit: ConcurrencyLimit;
  readonly queries: QueryHost;
}

/** The live updates of one application: its bus, its event streams and its polls. */
export class LiveUpdates {
  /** The bus of the application, as its requests carry it. */
  readonly bus: AppBus;
  /** What was published and delivered since the start. */
  readonly counts = new LiveCounts();
  /** The queries of the application; `null` without any. Their code comes with `query()`: other applications do not contain it. */
  readonly queries: LiveQueries | null;
  readonly #log: AppLog;
  readonly #connectionLimit: ConcurrencyLimit;
  readonly #memory: RequestMemory;
  readonly #rate = memoryRateStore();
  readonly #builds = new ConnectionsByBuild();
  /** Created by the first subscription. */
  #hub: SubscriptionHub | null = null;
  /** By when live connections end, by `performance.now`; `null` while the process is not stopping. */
  #drainedAtMs: number | null = null;
  #isClosed = false;

  constructor({ bus, log, secrets, connectionLimit, queries }: LiveUpdatesOptions) {
    this.bus = new AppBus({
      ...bus,
      log,
      counts: this.counts,
      fingerprints: secretFingerprints(secrets),
      openHub: () => this.#openHub(),
    });
    this.queries = openQueries(queries, () => this.#openHub());
    this.#log = log;
    this.#connectionLimit = connectionLimit;
    this.#memory = new RequestMemory(connectionLimit.maxPerClient);
  }

  /** Registers the application for `publish`, `listen` and `realtime.use_bus`, until it is closed. */
  register(app: object): void {
    processApps.add(this.bus, app);
  }

  /**
   * Checks the bus before the first request, for up to one second.
   *
   * @throws ConfigError if the bus cannot be used
   */
  start(): Promise<void> {
    return this.bus.start();
  }

  /**
   * Marks the application as the current one of a development server.
   *
   * @param onPublished called with each message that is published from now on: its channel, and its data as JSON
   */
  setDevelopment(onPublished?: OnPublished): void {
    this.bus.onPublished = onPublished;
    processApps.setDevelopmentApp(this.bus);
  }

  /** Observes the operations of the bus from now on. */
  observeBus(observe: ObserveOperation): void {
    this.bus.observe = observe;
  }

  /** The open event streams and polls. */
  get connections(): readonly LiveConnection[] {
    return this.#hub?.connections ?? [];
  }

  /** Returns how many live connections of pages of earlier builds are open. */
  connectionsBefore(build: string): number {
    return this.#builds.before(build);
  }

  /** Publishes a message to the pages of this application. The contract is that of the function `publish`. */
  publish(name: string, data: unknown): Promise<void> {
    return publishTo(() => this.bus, name, data);
  }

  /**
   * Handles a subscription, as an event stream or as a poll; returns `null` for any other path.
   *
   * @throws RequestError for an invalid request, `forbidden` for one of another site, and `rate_limited` for a client
   *   that sends too many requests, whose requests use too much memory, or that opens an event stream while it has too many
   *   connections open
   * @see docs/protocol.md 10.4
   */
  handle(context: RequestContext, path: string): HandlerResponse | Promise<HandlerResponse> | null {
    if (!isLivePath(path)) return null;
    if (this.#isClosed) return closedResponse();
    requireSameOrigin(context, this.#log, "subscription");
    const kind = KINDS.get(path);
    if (kind === undefined) return this.#handlePresence(context);
    this.#countRequest(context.address);
    const request = readSubscriptionRequest(context, kind);
    return isPromise(request)
      ? request.then((read) => this.#respond(read, kind, context))
      : this.#respond(request, kind, context);
  }

  #respond(
    request: SubscriptionRequest,
    kind: SubscriptionKind,
    context: RequestContext,
  ): HandlerResponse | Promise<HandlerResponse> {
    if (this.#isClosed) return closedResponse(); // while the body arrived
    // Pages handle it as that of a server of an earlier version: they receive everything else, and try again later.
    if (request.queries.length > 0 && !this.queries) {
      throw new RequestError("validation_error", "This application has no queries.", { status: 400 });
    }
    const hub = this.#openHub();
    const isEventStream = kind === "live";
    const presence = this.#readPresence(request.tokens, context);
    const queries = this.queries?.read(request.queries, context) ?? null;
    const releaseMemory = this.#memory.take(context.address, request);
    const release = this.#connectionLimit.acquire(context.address);
    if (isEventStream && !release) {
      releaseMemory();
      return this.#refuseConnection();
    }
    const removeBuild = this.#builds.add(context.inbound.header(BUILD_HEADER));
    const onEnded = () => {
      releaseMemory();
      release?.();
      removeBuild();
    };
    if (isEventStream) return handleEventStream(request, hub, { context, presence, queries, release: onEnded });
    // If it were refused, the pages of an office with one address that are above the limit would receive nothing for as
    // long as the others are open.
    return handlePoll(request, hub, { context, presence, queries, isAboveLimit: release === null }).finally(onEnded);
  }

  /** Removes the pages of a sign-in from all lists of who is present, and ends their queries, in every process. */
  signedOut(sid: string): void {
    const tag = sessionTag(sid);
    this.queries?.runs.signedOut(tag);
    void this.bus.signedOut(tag);
  }

  #handlePresence(context: RequestContext): Promise<HandlerResponse> {
    const onBusFailure = (error: unknown) => this.#openHub().busFailed(error);
    return handlePresence(context, { rooms: () => this.bus.presence, rate: this.#rate, onBusFailure });
  }

  /**
   * Ends all event streams and polls, so that browsers reconnect to another process. New ones are accepted and end within the
   * time, or at once after it: an `EventSource` would give up after an error status.
   *
   * @param ms the time over which they end, at random
   */
  drain(ms: number): void {
    this.#drainedAtMs = performance.now() + ms;
    this.#hub?.endBy(this.#drainedAtMs);
  }

  /** Ends all connections, and closes the bus unless another application uses the same. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.queries?.runs.close();
    this.#hub?.close();
    this.#hub = null;
    await this.bus.closePresence();
    await processApps.remove(this.bus);
  }

  #readPresence(tokens: readonly string[], context: RequestContext): PresenceInput | null {
    return tokens.length === 0 ? null : { rooms: this.bus.presence, requests: readPresenceTokens(tokens, context) };
  }

  /** Returns the hub, and creates it at the first call. */
  #openHub(): SubscriptionHub {
    if (this.#hub) return this.#hub;
    this.#hub = new SubscriptionHub(this.bus.openReader(), this.#log, this.counts);
    if (this.#drainedAtMs !== null) this.#hub.endBy(this.#drainedAtMs);
    return this.#hub;
  }

  #countRequest(address: string): void {
    const refusal = this.#rate.take([LIVE_LIMIT], [clientKey(address)]);
    if (refusal === null) return;
    const { calls, seconds } = LIVE_LIMIT;
    const { details, sentence } = retryAdvice(refusal.waitSeconds);
    const message = `Too many live requests: at most ${calls} in ${seconds} seconds. ${sentence}`;
    throw new RequestError("rate_limited", message, { headers: CONNECTION_CLOSE, details });
  }

  #refuseConnection(): never {
    const { maxPerClient } = this.#connectionLimit;
    throw new RequestError("rate_limited", `Too many connections are open: at most ${maxPerClient} per client.`, {
      headers: CONNECTION_CLOSE,
      details: { retry_after: STREAM_RETRY_SECONDS },
    });
  }
}

function closedResponse(): HandlerResponse {
  const headers = { "retry-after": "1", ...PRIVATE_NO_CACHE, ...CONNECTION_CLOSE };
  return textResponse(503, "This process is stopping. Retry: another process will respond.\n", headers);
}

/** One function for all connections without a build: each keeps it until its end. */
const notCounted = () => undefined;

/** Counts the open live connections by the build of their page. @see docs/protocol.md 3.9 */
export class ConnectionsByBuild {
  /** Has no entry without connections, so that it is no larger than their number. */
  readonly #counts = new Map<string, number>();

  /**
   * Counts a connection that was opened.
   *
   * @param build what the page has sent; any other text than an id is not counted
   * @returns a function to call once when the connection has ended
   */
  add(build: string | null): () => void {
    if (build === null || !BUILD_ID.test(build)) return notCounted;
    this.#change(build, 1);
    return () => this.#change(build, -1);
  }

  /** Returns how many connections of pages of earlier builds are open. */
  before(build: string): number {
    let sum = 0;
    for (const [other, count] of this.#counts) if (other < build) sum += count;
    return sum;
  }

  #change(build: string, difference: number): void {
    const count = (this.#counts.get(build) ?? 0) + difference;
    if (count > 0) this.#counts.set(build, count);
    else this.#counts.delete(build);
  }
}
