import { setTimeout as pause } from "node:timers/promises";
import type { App } from "../../app.ts";
import { type AppInternals, requireInternals } from "../../server/index.ts";

/** How long `on_start` of an edited application may run until `on_stop` is called, in milliseconds. */
const START_GRACE_MS = 2_000;

/** An application that the development server has started: its `on_start`, and later its `on_stop`. */
export class RunningApp {
  readonly app: App;
  /** Settles when `on_start` has ended. It rejects with its error, whatever is requested until the next edit. */
  readonly started: Promise<void>;
  readonly #hooks: AppInternals["hooks"];

  constructor(app: App) {
    this.app = app;
    this.#hooks = requireInternals(app, "tsweb dev").hooks;
    this.started = this.#hooks.start();
    this.started.catch(() => undefined); // whoever requests the application receives the error
  }

  /** Whether the application ends by itself what it has opened: the modules that have opened that run again. */
  get hasStopHook(): boolean {
    return this.#hooks.hasStop;
  }

  /**
   * Runs `on_stop`, also if `on_start` has failed or does not end: it may have started a part of its work. Requests and live
   * connections are not waited for. Resolves after at most four seconds, and never rejects.
   */
  async stop(): Promise<void> {
    if (!this.hasStopHook) return;
    const giveUp = new AbortController();
    const grace = pause(START_GRACE_MS, undefined, { signal: giveUp.signal });
    await Promise.allSettled([Promise.race([this.started, grace])]);
    giveUp.abort();
    grace.catch(() => undefined); // of the abort
    await this.#hooks.stop();
  }
}
