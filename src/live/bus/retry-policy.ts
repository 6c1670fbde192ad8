/** How long a bus that is away is waited for by whoever asks for a position, reads or begins to watch. */
const ANSWER_MS = 2_000;

/** How long a bus is left alone after it failed. */
const PAUSE_MS = 50;

/** Answers whether an error is of the kind that passes, so that another attempt has sense. */
export type IsTransient = (error: unknown) => boolean;

/** One who tries again. */
interface Retry {
  go(): void;
  /** It is waited for no more: its turn costs nobody a turn. */
  isOver(): boolean;
}

/**
 * Has those wait whom the bus failed. However many they are, one of them tries at a time; once the bus
 * answers, they all do.
 */
export class RetryQueue {
  /** Who has waited longest is the first. */
  readonly #waiting = new Set<Retry>();
  #pause: NodeJS.Timeout | undefined;
  #isThere = true;

  /** Takes note of whether the bus answered, whoever asked it. */
  note(isThere: boolean): void {
    this.#isThere = isThere;
  }

  /** Waits for its turn. */
  wait(turn: Retry): void {
    this.#waiting.add(turn);
    this.#pause ??= setTimeout(() => this.#resume(), PAUSE_MS);
  }

  /** Gives no turn any more. */
  close(): void {
    clearTimeout(this.#pause);
    this.#waiting.clear();
  }

  #resume(): void {
    this.#pause = undefined;
    // One more each time, whatever became of those before: an attempt may never end.
    let most = this.#isThere ? Number.POSITIVE_INFINITY : 1;
    for (const turn of [...this.#waiting]) {
      if (!turn.isOver() && most-- <= 0) continue;
      this.#waiting.delete(turn);
      turn.go();
    }
    if (this.#waiting.size > 0) this.#pause ??= setTimeout(() => this.#resume(), PAUSE_MS);
  }
}

/** Tries again and again, for two seconds at most. */
export class RetryPolicy {
  readonly #isPassing: IsTransient;
  readonly #pending = new Set<(error: Error) => void>();
  readonly #turns = new RetryQueue();
  #isClosed = false;

  constructor(isPassing: IsTransient) {
    this.#isPassing = isPassing;
  }

  /**
   * Tries until an attempt succeeds.
   *
   * @param attempt may fail, or never answer
   * @throws Error what it failed with, where that does not pass; after two seconds, that there was no
   *   answer; that the bus is closed
   */
  run<T>(attempt: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      let last: unknown;
      const done = (settle: () => void) => {
        clearTimeout(timer);
        if (this.#pending.delete(fail)) settle();
      };
      const fail = (error: unknown) => done(() => reject(error));
      const timer = setTimeout(() => fail(late(last)), ANSWER_MS);
      this.#pending.add(fail);
      const go = () => {
        if (turn.isOver()) return;
        attempt().then(
          (value) => {
            this.#turns.note(true);
            done(() => resolve(value));
          },
          (error: unknown) => {
            const passes = this.#isPassing(error);
            last = error;
            this.#turns.note(!passes);
            if (!passes) fail(error);
            else if (!turn.isOver()) this.#turns.wait(turn);
          },
        );
      };
      const turn: Retry = { go, isOver: () => !this.#pending.has(fail) };
      go();
    });
  }

  /** Rejects what is pending, and all that comes. */
  close(): void {
    this.#isClosed = true;
    this.#turns.close();
    for (const fail of this.#pending) fail(closed());
  }
}

/** Says what went wrong. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function closed(): Error {
  return new Error("The bus is closed.");
}

function late(last: unknown): Error {
  const reason = last === undefined ? "" : ` ${errorMessage(last)}`;
  return new Error(`The bus did not answer within ${ANSWER_MS / 1000} s.${reason}`, { cause: last });
}
