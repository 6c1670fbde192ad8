/**
 * How many runs of queries a process has in progress at most, for all its applications: they share its processor and, mostly, one
 * database.
 */
export const MAX_RUNS = 16;

/** A run that waits. */
interface Waiting {
  readonly begin: () => void;
}

/**
 * The runs of queries that may be in progress at the same time. The queries take turns: one that runs for each of many sign-ins
 * does not delay the others for longer than a run.
 */
export class RunSlots {
  readonly #max: number;
  #used = 0;
  /** The runs that wait, by query; the query whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The number of runs in progress. */
  get used(): number {
    return this.#used;
  }

  /**
   * Calls `begin` when the run may begin: at once if there is room. The caller calls {@link release} when the run has ended.
   *
   * @param query the id of its query
   * @returns a function that gives up the wait; it has no effect once `begin` was called
   */
  acquire(query: string, begin: () => void): () => void {
    if (this.#used < this.#max) {
      this.#used++;
      begin();
      return () => undefined;
    }
    const waiting = { begin };
    const queue = this.#waiting.get(query) ?? [];
    this.#waiting.set(query, queue);
    queue.push(waiting);
    return () => {
      const index = queue.indexOf(waiting);
      if (index >= 0) queue.splice(index, 1);
      if (queue.length === 0 && this.#waiting.get(query) === queue) this.#waiting.delete(query);
    };
  }

  /** Ends a run: the next one begins. */
  release(): void {
    this.#used--;
    const [next] = this.#waiting;
    if (!next) return;
    const [query, queue] = next;
    const waiting = queue.shift();
    this.#waiting.delete(query);
    if (queue.length > 0) this.#waiting.set(query, queue); // behind the others
    this.#used++;
    waiting?.begin();
  }
}

/** Lives as long as the process, whose runs it bounds. */
export const processSlots = new RunSlots(MAX_RUNS);
