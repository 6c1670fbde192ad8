import { clientKey } from "./client-key.ts";

/** What clients hold open of this process: streams, and pages that listen. */
export interface ConcurrencyLimit {
  /**
   * Takes one more for a client, until it is given back.
   *
   * @param address the client's; of IPv6 the first 64 bits count, as for the rate
   * @returns what gives it back, and does nothing more when it is called again; `null` when the client
   *   holds as many as it may
   */
  acquire(address: string): (() => void) | null;
  /** How many one client may hold. */
  readonly maxPerClient: number;
  /** How many all clients hold together. */
  readonly size: number;
}

/**
 * Counts what each client holds open. A client that holds nothing is not remembered.
 *
 * @param most how many one client may hold
 */
export function concurrencyLimit(most: number): ConcurrencyLimit {
  const held = new Map<string, number>();
  let size = 0;

  const giveBack = (key: string) => {
    const left = (held.get(key) ?? 0) - 1;
    if (left > 0) held.set(key, left);
    else held.delete(key);
    size--;
  };

  return {
    maxPerClient: most,
    get size() {
      return size;
    },
    acquire(address) {
      const key = clientKey(address);
      const count = held.get(key) ?? 0;
      if (count >= most) return null;
      held.set(key, count + 1);
      size++;
      let isHeld = true;
      return () => {
        if (isHeld) giveBack(key);
        isHeld = false;
      };
    },
  };
}
