import { RPCError } from "../errors.ts";

/** How much costly work may be under way. */
export interface LaneOptions {
  /** Pieces that run at once. */
  readonly running: number;
  /** Pieces that may wait for their turn. */
  readonly waiting: number;
}

/**
 * Makes a queue for costly work: `running` pieces at once, `waiting` in line, first come first
 * served, and beyond that `rate_limited`. What strangers can ask for must not starve the rest.
 *
 * @returns a function that runs a piece of work in its turn
 */
export function createLanes({ running, waiting }: LaneOptions): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = [];
  let busy = 0;

  return async (work) => {
    if (busy < running) {
      busy++;
    } else {
      if (line.length >= waiting)
        throw new RPCError("rate_limited", "The server is busy. Please try again in a moment.");
      // The lane is handed over, not freed and taken again: a newcomer cannot slip in between.
      await new Promise<void>((resolve) => line.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else busy--;
    }
  };
}
