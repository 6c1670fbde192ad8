import type { RedisTarget } from "../config/index.ts";
import { backgroundLog, type Logger } from "../logging/index.ts";
import { type ManagedRateStore, type MemoryRateStore, memoryRateStore } from "../rate-limit/index.ts";
import type { SharedStoreOptions } from "./redis/index.ts";

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
    opened ??= target ? openShared({ target, local, log: backgroundLog(log) }) : managed(local);
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

/** Returns a store of this process, which needs no start and no end. */
function managed(local: MemoryRateStore): ManagedRateStore {
  return { take: local.take, use: local.use, start: async () => undefined, close: async () => undefined };
}

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
