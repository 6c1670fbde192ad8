import type { VerifiedSession } from "../../session/index.ts";
import type { QuerySeries, SeriesReceiver } from "./query-series.ts";
import type { QueryVersion } from "./query-version.ts";
import type { QueryFrameText } from "./series-result.ts";

/**
 * One query of a connection: what its client has, and what it gets next. A client gets the values in the order of their runs, and
 * of those that it was too slow for, the newest one only. When it connects, it keeps its value if no channel has passed the version;
 * otherwise it gets one of a run that begins after that.
 */
export class QueryReceiver implements SeriesReceiver {
  readonly session: VerifiedSession | null;
  readonly #onNews: (receiver: QueryReceiver) => void;
  #series: QuerySeries;
  #version: QueryVersion | null;
  /** The id of the value that the client has; `null` if it has none. */
  #base: string | null;
  /** It gets the values of later runs. */
  #afterRun: number;
  /** It gets the failures of later runs. */
  #afterFailure: number;
  /** The run whose value it has to get; 0 for none. */
  #wanted = 0;
  #isChecked = false;
  /** Whether the client has sent a version of the series. */
  #isOfSeries = false;

  /** @param onNews called when {@link take} may return a frame */
  constructor(
    series: QuerySeries,
    client: { readonly version: QueryVersion | null; readonly session: VerifiedSession | null },
    onNews: (receiver: QueryReceiver) => void,
  ) {
    this.#series = series;
    this.#onNews = onNews;
    this.session = client.session;
    this.#version = client.version;
    this.#base = client.version?.valueId ?? null;
    this.#afterRun = this.#afterFailure = series.begun;
    this.#enter(series);
  }

  /** Whether it waits for a run: its client has no value, or an outdated one. */
  get isWaiting(): boolean {
    const { failure } = this.#series;
    const isFailing = failure !== null && !failure.takesValue; // its client learns of that, and the next run may be far
    return !this.#isChecked || (!isFailing && this.#series.isWaitingFor(this.#wanted));
  }

  /** Whether {@link take} returns a frame, unless the value was dropped. */
  get hasNews(): boolean {
    const { value, failure } = this.#series;
    return (value !== null && value.newsRun > this.#afterRun) || (failure !== null && failure.run > this.#afterFailure);
  }

  notify(): void {
    if (this.hasNews) this.#onNews(this);
  }

  /**
   * Makes sure that the client gets a value if a channel has passed its version. Called once after the receiver was created, and again
   * until it resolves.
   *
   * @param options.askBus whether to read the bus in any case, for a client that does not wait for messages which are on their way
   * @throws Error if the bus does not respond
   */
  async check(options: { readonly askBus: boolean }): Promise<void> {
    const series = this.#series;
    const { channels, begun } = series;
    if (this.#isChecked && !options.askBus) return;
    await channels.whenLive();
    const positions = this.#isOfSeries ? series.value?.positions : this.#version?.positions;
    const isOutdated = !positions || (await channels.havePassed(positions, options));
    if (series !== this.#series) return; // it has moved meanwhile, and gets another value in any case
    this.#isChecked = true;
    if (isOutdated) this.#want(this.#isOfSeries ? begun : this.#afterRun);
  }

  /** Returns the next frame for the client, as if it had received all others; `null` if there is none. */
  take(): QueryFrameText | null {
    const { value, failure } = this.#series;
    if (value && value.newsRun > this.#afterRun) {
      const frame = this.#series.frameFrom(this.#base);
      if (!frame) return null;
      this.#afterRun = value.run;
      this.#base = value.valueId;
      return frame;
    }
    if (!failure || failure.run <= this.#afterFailure) return null;
    this.#afterFailure = failure.run;
    if (failure.takesValue) this.#base = null;
    return failure.frame;
  }

  /** Receives from another series: the query runs for each sign-in from now on. Its values begin after this. */
  moveTo(series: QuerySeries): void {
    this.#series = series;
    this.#version = null;
    this.#afterRun = this.#afterFailure = series.begun;
    this.#isOfSeries = false;
    this.#isChecked = true;
    series.add(this, this.session);
    this.#want(this.#afterRun);
  }

  close(): void {
    this.#series.remove(this);
  }

  #enter(series: QuerySeries): void {
    const version = this.#version;
    series.add(this, this.session);
    if (version === null || version.series !== series.name || version.run > series.begun) return;
    // The value is one of this series: the runs after it are known, and the bus need not be read.
    this.#isOfSeries = true;
    this.#afterRun = this.#afterFailure = version.run;
    this.#isChecked = true;
    if ((series.value?.run ?? 0) < version.run) this.#want(version.run); // forged
  }

  #want(afterRun: number): void {
    const { failure } = this.#series;
    this.#wanted = this.#series.want(afterRun);
    // A run that fails is not repeated for each client: it learns of the failure, and gets the value of the next run.
    if (failure && !failure.takesValue) this.#afterFailure = Math.min(this.#afterFailure, failure.run - 1);
    this.notify();
  }
}
