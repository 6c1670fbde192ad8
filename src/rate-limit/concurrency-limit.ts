import { clientKey } from "./keys.ts";

/** How long a client that has too many streams open should wait, in seconds. When one of them ends is not known. */
export const STREAM_RETRY_SECONDS = 5;

/**
 * Limits how many streams, event streams and polls each client can have open in this process.
 *
 * @see docs/protocol.md 9.5
 */
export interface ConcurrencyLimit {
  /**
   * Counts one more open stream of a client.
   *
   * @param address the client address; it is counted by its {@link clientKey}
   * @returns a function that releases the stream and that can be called more than once; `null` if the
   *   client has reached the limit
   */
  acquire(address: string): (() => void) | null;
  /** Returns whether a client has any stream open. */
  has(address: string): boolean;
  /** How many streams one client can have open. */
  readonly maxPerClient: number;
  /** How many streams all clients together have open. */
  readonly size: number;
}

/**
 * Returns a limit without open streams. Clients without open streams use no memory.
 *
 * @param maxPerClient how many streams one client can have open
 */
export function concurrencyLimit(maxPerClient: number): ConcurrencyLimit {
  const openByClient = new Map<string, number>();
  let size = 0;

  const release = (key: string) => {
    const remaining = (openByClient.get(key) ?? 0) - 1;
    if (remaining > 0) openByClient.set(key, remaining);
    else openByClient.delete(key);
    size--;
  };

  return {
    maxPerClient,
    has: (address) => openByClient.size > 0 && openByClient.has(clientKey(address)),
    get size() {
      return size;
    },
    acquire(address) {
      const key = clientKey(address);
      const open = openByClient.get(key) ?? 0;
      if (open >= maxPerClient) return null;
      openByClient.set(key, open + 1);
      size++;
      let isAcquired = true;
      return () => {
        if (isAcquired) release(key);
        isAcquired = false;
      };
    },
  };
}
