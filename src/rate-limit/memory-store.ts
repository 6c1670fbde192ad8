import type { RateStore } from "./store.ts";
import { type Rate, retryAfterSeconds } from "./window.ts";

/** How many clients are told apart in one window. At 100 bytes each, some 20 MB in all. */
const MAX_CLIENTS = 100_000;

/** How many clients are looked at for one to be forgotten, when there are too many. */
const SEARCH = 32;

/** The key under which clients are counted together, when nobody can be forgotten. */
const OTHERS = "";

/** A store that never has to wait for its answer. */
export interface MemoryRateStore extends RateStore {
  take(key: string): number;
}

/**
 * Counts in this process: two maps, of this window and of the one before, so that nothing needs a
 * timer to be forgotten.
 *
 * Memory is bounded whatever addresses arrive. Where a client has to be forgotten it is one that
 * may still call: nobody is let in by sending from many addresses. Where all have used up their
 * calls, those who come after are counted together.
 *
 * @param now gives the time in milliseconds; by default that of a clock that nobody can set
 */
export function memoryRateStore(
  rate: Rate,
  now: () => number = () => performance.now(),
  maxClients = MAX_CLIENTS,
): MemoryRateStore {
  const spanMs = rate.seconds * 1000;
  let window = 0;
  let previous = new Map<string, number>();
  let current = new Map<string, number>();

  /** Turns to the window of a time; gives how much of it has passed. */
  const turn = (time: number): number => {
    const index = Math.floor(time / spanMs);
    if (index === window - 1) return 0; // set back across the edge: it stands there until the time comes again
    if (index !== window) begin(index);
    return (time % spanMs) / spanMs;
  };

  const begin = (index: number) => {
    previous = index === window + 1 ? current : new Map();
    current = new Map();
    walk = current.keys();
    window = index;
  };

  const waitOf = (key: string, elapsed: number) =>
    retryAfterSeconds({ previous: previous.get(key) ?? 0, current: current.get(key) ?? 0, elapsed }, rate);

  // One walk round the map that goes on where it stopped: to begin anew each time would pass over
  // the places of all that were forgotten before.
  let walk = current.keys();

  /** Makes room for one more client; answers whether there was any to be made. */
  const makeRoom = (elapsed: number): boolean => {
    for (let looked = 0; looked < SEARCH; looked++) {
      const { done, value: key } = walk.next();
      if (done) walk = current.keys();
      else if (key !== OTHERS && waitOf(key, elapsed) === 0) return current.delete(key);
    }
    return false;
  };

  return {
    take(client) {
      const elapsed = turn(now());
      const isKnown = current.has(client);
      const key = isKnown || current.size < maxClients || makeRoom(elapsed) ? client : OTHERS;
      const wait = waitOf(key, elapsed);
      if (wait === 0) current.set(key, (current.get(key) ?? 0) + 1);
      return wait;
    },
  };
}
