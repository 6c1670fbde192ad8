/**
 * The stores of the applications of this process.
 *
 * This is module-level state because its lifetime is the process's: outside a request, `limit` has no other way to find
 * its application.
 */
import { ContextKey } from "../http/index.ts";
import { memoryRateStore, type RateStore } from "../rate-limit/index.ts";

/** The store of the application of a request. */
export const RATE_STORE = new ContextKey<RateStore>();

const stores = new Set<RateStore>();

/** Counts while no application is open, for example in a test of a function. */
const fallbackStore = memoryRateStore();

/** Whether this process is a development server, which makes a new App after every edit. */
let isDevelopment = false;

/** Adds the store of an application. In a development server it takes the place of the earlier ones. */
export function addStore(store: RateStore): void {
  if (isDevelopment) stores.clear();
  stores.add(store);
}

/** Removes the store of an application that was closed. */
export function removeStore(store: RateStore): void {
  stores.delete(store);
}

/** Marks this process as a development server, and the application of a store as its current one. */
export function setDevelopmentStore(store: RateStore): void {
  isDevelopment = true;
  if (!stores.has(store)) return; // an edit has replaced it while it was loading
  stores.clear();
  stores.add(store);
}

/**
 * Returns the store of the only application of this process.
 *
 * @param caller the public function, for the message
 * @throws Error when there are several applications
 */
export function onlyStore(caller: string): RateStore {
  if (stores.size > 1) {
    throw new Error(
      `${caller} was called outside a request, and this process has ${stores.size} applications. Call app.${caller} of the ` +
        "application whose counts are meant, or close the other applications.",
    );
  }
  const [store = fallbackStore] = stores;
  return store;
}
