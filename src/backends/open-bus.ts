import { setTimeout as pause } from "node:timers/promises";
import { ConfigError, REDIS_TARGET, type RedisTarget, redisTargetOf } from "../config/index.ts";
import { backgroundLog, type Logger } from "../logging/index.ts";
import { type ManagedRateStore, memoryRateStore } from "../rate-limit/index.ts";
import { waitAtMost } from "../reconnect.ts";
import type { RevocationStore } from "../revocation/index.ts";
import type { Bus, OutcomeStore, PresenceStore } from "./bus/index.ts";
import { memory } from "./memory/index.ts";
import type { SharedStoreOptions } from "./redis/index.ts";

/** The settings with which the bus of an application is opened. */
export interface BusSource {
  /** `WEB_BUS_URL`, whose scheme `config` has checked; `undefined`: messages stay in memory. */
  readonly busUrl: string | undefined;
  /** The namespace of the application on the server of the bus. */
  readonly busNamespace: string;
  readonly log: Logger;
}

/**
 * Opens the bus of a URL: `redis://` and `rediss://` in Redis, `nats://` and `tls://` in NATS, and without a
 * URL in the memory of this process. It connects at its first use; `position([])` checks whether the server
 * is reachable. If the client package is not installed, or the path of a Redis URL is not a database number, every
 * operation of the bus rejects with a ConfigError.
 */
export function openBus({ busUrl: url, busNamespace: namespace, ...source }: BusSource): Bus {
  if (url === undefined) return memory();
  const log = backgroundLog(source.log);
  const options = { url, namespace, log };
  if (!isRedisUrl(url)) return new LazyBus(async () => (await import("./nats/index.ts")).nats(options));
  return new LazyBus(async () => (await import("./redis/index.ts")).redis(options), { url, namespace });
}

/**
 * Returns the Redis of a bus, in which the rate limit counts too; `undefined` if the bus is none in Redis.
 *
 * @param bus `null` if it has not been opened: then it is the one that {@link openBus} would open
 */
export function redisOf(bus: Bus | null, { busUrl: url, busNamespace: namespace }: BusSource): RedisTarget | undefined {
  if (bus) return redisTargetOf(bus);
  return url !== undefined && isRedisUrl(url) ? { url, namespace } : undefined;
}

function isRedisUrl(url: string): boolean {
  return /^rediss?:/.test(url);
}

/** A bus in Redis or NATS: both have everything that is optional. */
type ServerBus = Required<Bus>;

/** A bus whose code is loaded at its first use: a server without it starts sooner, and needs less memory. */
class LazyBus implements ServerBus {
  readonly revocations: RevocationStore = {
    append: async (subject) => (await this.#open()).revocations.append(subject),
    read: async (after) => (await this.#open()).revocations.read(after),
  };
  readonly presence: PresenceStore = {
    watch: async (...args) => (await this.#open()).presence.watch(...args),
    renew: async (...args) => (await this.#open()).presence.renew(...args),
    isEmpty: async (...args) => (await this.#open()).presence.isEmpty(...args),
    read: async (...args) => (await this.#open()).presence.read(...args),
    put: async (...args) => (await this.#open()).presence.put(...args),
    remove: async (...args) => (await this.#open()).presence.remove(...args),
    setState: async (...args) => (await this.#open()).presence.setState(...args),
  };
  readonly outcomes: OutcomeStore = {
    claim: async (...args) => (await this.#open()).outcomes.claim(...args),
    write: async (...args) => (await this.#open()).outcomes.write(...args),
    remove: async (...args) => (await this.#open()).outcomes.remove(...args),
  };
  readonly #load: () => Promise<Bus>;
  readonly #redis: RedisTarget | undefined;
  readonly #fingerprints: (readonly string[])[] = [];
  #loading: Promise<ServerBus> | undefined;
  #loaded: ServerBus | undefined;
  #isClosed = false;

  constructor(load: () => Promise<Bus>, redis?: RedisTarget) {
    this.#load = load;
    this.#redis = redis;
  }

  get [REDIS_TARGET](): RedisTarget | undefined {
    return this.#redis;
  }

  get isReachable(): boolean {
    return this.#loaded?.isReachable ?? true;
  }

  // All operations wait for one promise, also when it is settled: so they keep their order.
  publish: Bus["publish"] = async (channel, data) => (await this.#open()).publish(channel, data);
  position: Bus["position"] = async (channels) => (await this.#open()).position(channels);
  read: Bus["read"] = async (channel, after, limit) => (await this.#open()).read(channel, after, limit);
  readOldest: ServerBus["readOldest"] = async (channel, limit) => (await this.#open()).readOldest(channel, limit);
  watch: Bus["watch"] = async (channel, listener) => (await this.#open()).watch(channel, listener);
  check: ServerBus["check"] = async () => (await this.#open()).check();
  storedFingerprints: ServerBus["storedFingerprints"] = async () => (await this.#open()).storedFingerprints();

  identify(fingerprints: readonly string[]): void {
    this.#fingerprints.push(fingerprints);
    this.#loaded?.identify(fingerprints);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const bus = await this.#loading?.catch(() => undefined);
    await bus?.close();
  }

  #open(): Promise<ServerBus> {
    if (this.#isClosed && !this.#loading) return Promise.reject(new Error("The bus is closed."));
    this.#loading ??= this.#load().then((loaded) => {
      const bus = loaded as ServerBus; // its public type is that of any bus
      this.#loaded = bus;
      for (const fingerprints of this.#fingerprints) bus.identify(fingerprints);
      return bus;
    });
    return this.#loading;
  }
}

/** How long {@link startBus} waits for the server, so that an unreachable one does not delay the start. */
const START_TIMEOUT_MS = 1_000;

/** How long to wait after a failed check. */
const RETRY_DELAY_MS = 5_000;

/** The options of {@link startBus}. */
export interface StartBusOptions {
  readonly log: Logger;
  /** Returns whether the bus is still in use. */
  isInUse(): boolean;
}

/**
 * Checks whether a bus can be used: it connects, and looks whether another application uses its namespace. If the server
 * is unreachable, this resolves after a second, and the check continues in the background.
 *
 * @throws ConfigError if the bus cannot be used. In the background, the error is logged. Every operation rejects with it.
 */
export async function startBus(bus: Bus, options: StartBusOptions): Promise<void> {
  const result = await waitAtMost(checkOnce(bus), START_TIMEOUT_MS, "unreachable" as const);
  if (result instanceof ConfigError) throw result;
  if (result === "unreachable") void checkUntilReachable(bus, options);
}

/** Never rejects. */
async function checkUntilReachable(bus: Bus, { log, isInUse }: StartBusOptions): Promise<void> {
  while (isInUse()) {
    const result = await checkOnce(bus);
    if (result instanceof ConfigError) log.error({}, result.message);
    if (result !== "unreachable") return;
    await pause(RETRY_DELAY_MS, undefined, { ref: false });
  }
}

/** Never rejects. */
async function checkOnce(bus: Bus): Promise<ConfigError | "usable" | "unreachable"> {
  try {
    await bus.position([]);
    return "usable";
  } catch (error) {
    return error instanceof ConfigError ? error : "unreachable"; // the bus logs it, or the first operation rejects with it
  }
}

/** The options of {@link openRateStore}. */
export interface RateStoreOptions {
  /**
   * Returns the Redis in which processes share the counts; `undefined`: this process counts for itself. Called once,
   * when the store is started or at the first call: by then, `realtime.use_bus` has installed a bus.
   */
  redis(): RedisTarget | undefined;
  readonly log: Logger;
}

/**
 * Opens the store that counts the calls of an application. If its bus is in Redis, all processes that use it share the
 * counts; otherwise this process counts for itself. The store connects when it is started or at the first call.
 *
 * @see docs/protocol.md 9.4
 */
export function openRateStore({ redis, log }: RateStoreOptions): ManagedRateStore {
  const local = memoryRateStore();
  let opened: ManagedRateStore | undefined;
  let isClosed = false;
  const open = () => {
    // A request that has outlived its application must not open another connection.
    const target = isClosed ? undefined : redis();
    opened ??= target ? openShared({ target, local, log: backgroundLog(log) }) : { ...local, ...UNMANAGED };
    return opened;
  };
  return {
    take: (limits, keys) => (opened ?? open()).take(limits, keys),
    use: (limit, key, use) => (opened ?? open()).use(limit, key, use),
    start: () => open().start(),
    async close() {
      isClosed = true;
      await opened?.close();
    },
  };
}

/** A store of this process needs no start and no end. */
const UNMANAGED = { start: async () => undefined, close: async () => undefined };

/** Returns the store in Redis. Its code is loaded now: a server without Redis starts sooner, and needs less memory. */
function openShared(options: SharedStoreOptions): ManagedRateStore {
  let loaded: ManagedRateStore | undefined;
  const loading = import("./redis/index.ts").then(({ openSharedStore }) => {
    loaded = openSharedStore(options);
    return loaded;
  });
  loading.catch(() => undefined); // each operation rejects with it
  return {
    take: (limits, keys) => (loaded ? loaded.take(limits, keys) : loading.then((store) => store.take(limits, keys))),
    use: (limit, key, use) =>
      loaded ? loaded.use(limit, key, use) : loading.then((store) => store.use(limit, key, use)),
    start: async () => (await loading).start(),
    close: async () => (await loading).close(),
  };
}
