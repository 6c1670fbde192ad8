import {
  CONNECTION_CLOSE,
  type HandlerResponse,
  type RequestContext,
  RequestError,
  textResponse,
} from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { LIVE_PATH, POLL_PATH } from "../protocol/index.ts";
import { type ConcurrencyLimit, clientKey, type MemoryRateStore, memoryRateStore } from "../rate-limit/index.ts";
import { AppBus } from "./app-bus.ts";
import { addApp, removeApp, setDevelopmentApp } from "./app-registry.ts";
import { handleEventStream } from "./handle-event-stream.ts";
import { handlePoll } from "./handle-poll.ts";
import { publishTo } from "./publish.ts";
import { SubscriptionHub } from "./subscription-hub.ts";
import { readSubscriptionRequest } from "./subscription-request.ts";

/**
 * How often one client may poll. A page polls at most twice a second. A poll is cheap to send, but it reads the bus,
 * and its response may be a hundred times its size.
 */
const POLL_LIMIT = { calls: 600, seconds: 60 } as const;

/** The options of {@link LiveUpdates}. */
export interface LiveUpdatesOptions {
  /** The value of `WEB_BUS_URL`; `undefined`: messages stay in memory. */
  readonly busUrl: string | undefined;
  readonly log: Logger;
  /** Limits the event streams and polls that a client has open. */
  readonly connectionLimit: ConcurrencyLimit;
}

/** The live updates of one application: its bus, its event streams and its polls. */
export class LiveUpdates {
  /** The bus of the application, as its requests carry it. */
  readonly bus: AppBus;
  readonly #log: Logger;
  readonly #connectionLimit: ConcurrencyLimit;
  readonly #pollRate: MemoryRateStore = memoryRateStore(POLL_LIMIT);
  /** Created by the first subscription. */
  #hub: SubscriptionHub | null = null;
  #isDraining = false;

  constructor({ busUrl, log, connectionLimit }: LiveUpdatesOptions) {
    this.bus = new AppBus({ busUrl, log });
    this.#log = log;
    this.#connectionLimit = connectionLimit;
  }

  /** Registers the application for `publish` and `realtime.use_bus`, until it is closed. */
  register(): void {
    addApp(this.bus);
  }

  /** Marks the application as the current one of a development server. */
  setDevelopment(): void {
    setDevelopmentApp(this.bus);
  }

  /** Publishes a message to the pages of this application. The contract is that of the function `publish`. */
  publish(name: string, data: unknown): Promise<void> {
    return publishTo(() => this.bus.open(), name, data);
  }

  /**
   * Handles a subscription, as an event stream or as a poll; returns `null` for any other path.
   *
   * @throws RequestError for an invalid request, and `rate_limited` for a client that polls too often or has too many
   *   connections open
   * @see docs/protocol.md 10.4
   */
  handle(context: RequestContext, path: string): HandlerResponse | Promise<HandlerResponse> | null {
    const isEventStream = path === LIVE_PATH;
    if (!isEventStream && path !== POLL_PATH) return null;
    if (this.#isDraining) {
      const headers = { "retry-after": "1", ...CONNECTION_CLOSE };
      return textResponse(503, "This process is stopping. Retry: another process will respond.\n", headers);
    }
    if (!isEventStream) this.#countPoll(context.address);
    const request = readSubscriptionRequest(context);
    this.#hub ??= new SubscriptionHub(this.bus.open(), this.#log);
    const release = this.#acquire(context.address);
    if (isEventStream) return handleEventStream(request, this.#hub, release);
    return handlePoll(request, this.#hub, context).finally(release);
  }

  /** Ends all event streams and polls, and accepts no new ones: browsers reconnect to another process. */
  drain(): void {
    this.#isDraining = true;
    this.#hub?.end();
  }

  /** Ends all connections, and closes the bus unless another application uses the same. */
  async close(): Promise<void> {
    this.drain();
    this.#hub?.close();
    this.#hub = null;
    await removeApp(this.bus);
  }

  #countPoll(address: string): void {
    const retryAfterSeconds = this.#pollRate.take(clientKey(address));
    if (retryAfterSeconds === 0) return;
    const { calls, seconds } = POLL_LIMIT;
    throw new RequestError("rate_limited", `Too many polls: at most ${calls} in ${seconds} seconds.`, {
      headers: { "retry-after": String(Math.ceil(retryAfterSeconds)) },
    });
  }

  #acquire(address: string): () => void {
    const release = this.#connectionLimit.acquire(address);
    if (release) return release;
    const { maxPerClient } = this.#connectionLimit;
    throw new RequestError("rate_limited", `Too many connections are open: at most ${maxPerClient} per client.`, {
      headers: { "retry-after": "5" },
    });
  }
}
