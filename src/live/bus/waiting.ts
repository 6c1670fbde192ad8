/** How long a bus that is away is waited for by whoever asks for a position, reads or begins to watch. */
const ANSWER_MS = 2_000;

/** How long a bus is left alone after it failed. */
export const PAUSE_MS = 50;

/** Answers whether an error is of the kind that passes, so that another attempt has sense. */
export type IsPassing = (error: unknown) => boolean;

/**
 * Tries again and again, for two seconds at most. However many wait for a bus that is away, one of them
 * tries at a time; once it answers, they all do.
 */
export class Patience {
  readonly #isPassing: IsPassing;
  readonly #pending = new Set<(error: Error) => void>();
  /** Those whom the bus failed; who has waited longest is the first. */
  readonly #resting = new Set<() => void>();
  #pause: NodeJS.Timeout | undefined;
  /** Whether the bus answered when it was last asked, whatever by whom. */
  #isThere = true;
  #isClosed = false;

  constructor(isPassing: IsPassing) {
    this.#isPassing = isPassing;
  }

  /**
   * Tries until an attempt succeeds.
   *
   * @param attempt may fail, or never answer
   * @throws Error what it failed with, where that does not pass; after two seconds, that there was no
   *   answer; that the bus is closed
   */
  insist<T>(attempt: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      let last: unknown;
      const done = (settle: () => void) => {
        clearTimeout(timer);
        this.#resting.delete(go);
        if (this.#pending.delete(fail)) settle();
      };
      const fail = (error: unknown) => done(() => reject(error));
      const timer = setTimeout(() => fail(late(last)), ANSWER_MS);
      this.#pending.add(fail);
      const go = () => {
        attempt().then(
          (value) => {
            this.#isThere = true;
            done(() => resolve(value));
          },
          (error: unknown) => {
            last = error;
            this.#isThere = !this.#isPassing(error);
            if (this.#isThere) fail(error);
            else if (this.#pending.has(fail)) this.#rest(go);
          },
        );
      };
      go();
    });
  }

  /** Rejects what is pending, and all that comes. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#pause);
    for (const fail of this.#pending) fail(closed());
  }

  #rest(go: () => void): void {
    this.#resting.add(go);
    this.#pause ??= setTimeout(() => this.#resume(), PAUSE_MS);
  }

  #resume(): void {
    this.#pause = undefined;
    // One more each time, whatever became of those before: an attempt may never end.
    for (const go of [...this.#resting].slice(0, this.#isThere ? undefined : 1)) {
      this.#resting.delete(go);
      go();
    }
    if (this.#resting.size > 0) this.#pause ??= setTimeout(() => this.#resume(), PAUSE_MS);
  }
}

/** Says what went wrong. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function closed(): Error {
  return new Error("The bus is closed.");
}

function late(last: unknown): Error {
  const reason = last === undefined ? "" : ` ${messageOf(last)}`;
  return new Error(`The bus did not answer within ${ANSWER_MS / 1000} s.${reason}`, { cause: last });
}
