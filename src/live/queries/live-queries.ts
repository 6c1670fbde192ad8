import { type BodyProducer, type BodySink, type RequestContext, runOutsideRequests } from "../../http/index.ts";
import type { QueryHub } from "./query-channels.ts";
import { QueryConnection, type QueryInput, readQueries } from "./query-connection.ts";
import { type QueryHost, receiverError, runQuery } from "./query-run.ts";
import { QueryRuns } from "./query-runs.ts";

/** The queries of a live request, whose tokens were verified. */
export interface RequestedQueries {
  /** Adds them to an event stream. */
  openStream(stream: BodyProducer, sink: BodySink): QueryStream;
  /** @param onNews called when there may be a frame for the poll */
  openPoll(onNews: () => void): QueryPoll;
}

/** The queries of an application. */
export class LiveQueries {
  /** The runs of the queries. */
  readonly runs: QueryRuns;

  /** @param hub returns the subscriptions of the application */
  constructor(host: QueryHost, hub: () => QueryHub) {
    this.runs = new QueryRuns({
      host,
      hub,
      runner: {
        run: (call, session) => runQuery(call, host, session),
        describe: (cause, call) => receiverError(cause, call, host),
      },
    });
  }

  /**
   * Verifies the tokens of queries of a live request.
   *
   * @returns `null` without any
   * @throws RequestError 403 for a token that this application has not issued
   */
  read(tokens: readonly string[], context: RequestContext): RequestedQueries | null {
    const input = readQueries(tokens, context, this.runs);
    return (
      input && {
        openStream: (stream, sink) => new QueryStream(stream, sink, input),
        openPoll: (onNews) => new QueryPoll(input, onNews),
      }
    );
  }
}

/** How often a bus that does not respond is read again, to find out whether the values of a client are outdated. */
const RETRY_MS = 1_000;

/**
 * The queries of an event stream: passes on what happens to its body to the event stream, and writes frames in between. A client
 * that reads slowly gets the newest value of each query later, and none that it has missed.
 */
export class QueryStream implements BodyProducer {
  readonly #stream: BodyProducer;
  readonly #sink: BodySink;
  readonly #connection: QueryConnection;
  readonly #input: QueryInput;
  #isBlocked = false;
  #isOpen = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: BodyProducer, sink: BodySink, input: QueryInput) {
    this.#stream = stream;
    this.#sink = sink;
    this.#input = input;
    this.#connection = runOutsideRequests(() => new QueryConnection(input, () => this.#write()));
    this.#write();
    runOutsideRequests(() => void this.#check());
  }

  onDrain(): void {
    this.#isBlocked = false;
    this.#stream.onDrain();
    this.#write();
  }

  onClose(): void {
    this.#stream.onClose();
  }

  /** Ends it, when the event stream has ended: nothing may be written after that. */
  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#connection.close();
  }

  async #check(): Promise<void> {
    try {
      await this.#connection.check({ askBus: false });
    } catch (error) {
      if (!this.#isOpen) return;
      this.#input.runs.busFailed(error);
      this.#timer = setTimeout(() => void this.#check(), RETRY_MS).unref();
    }
  }

  #write(): void {
    while (this.#isOpen && !this.#isBlocked) {
      const frame = this.#connection.take();
      if (!frame) return;
      const { event } = frame;
      this.#isBlocked = !(this.#sink.writeShared ? this.#sink.writeShared(event) : this.#sink.write(event));
    }
  }
}

/** About the maximum size of the frames in the response to a poll. */
const MAX_POLL_BYTES = 128 * 1024;

/** How long a poll waits for runs at least, in milliseconds: its client would otherwise never get the value of a slow query. */
const MIN_WAIT_MS = 10_000;

/** How long a poll waits for messages. */
export interface PollWait {
  /** The time by `performance.now` at which it stops waiting. */
  readonly untilMs: number;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The queries of a poll. */
export class QueryPoll {
  readonly #connection: QueryConnection;
  readonly #onNews: () => void;
  #resume: () => void = () => undefined;
  #isOpen = true;

  /** @param onNews called when there may be a frame */
  constructor(input: QueryInput, onNews: () => void) {
    this.#onNews = onNews;
    this.#connection = runOutsideRequests(() => new QueryConnection(input, () => this.#notify()));
  }

  /** Whether the response has nothing that the client does not know. */
  get isEmpty(): boolean {
    return this.#connection.isEmpty;
  }

  /**
   * Resolves when no value of the client is outdated, or the runs take too long. A poll that does not wait for messages gets what was
   * published before it.
   *
   * @throws Error if the bus does not respond
   */
  async whenReady({ untilMs, signal }: PollWait): Promise<void> {
    const now = performance.now();
    await runOutsideRequests(() => this.#connection.check({ askBus: untilMs <= now }));
    const deadlineMs = Math.max(untilMs, now + MIN_WAIT_MS);
    const timer = setTimeout(() => this.#resume(), deadlineMs - performance.now());
    const onAbort = () => this.#resume();
    signal.addEventListener("abort", onAbort);
    while (this.#isOpen && this.#connection.isWaiting && !signal.aborted && performance.now() < deadlineMs) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }

  /** Takes the frames for the response, each as JSON `[id, frame]`: as many as fit. */
  takeFrames(): readonly string[] {
    const frames: string[] = [];
    for (let bytes = 0; bytes < MAX_POLL_BYTES; ) {
      const frame = this.#connection.take();
      if (!frame) break;
      frames.push(`[${JSON.stringify(frame.id)},${frame.json}]`);
      bytes += frame.json.length;
    }
    return frames;
  }

  close(): void {
    this.#isOpen = false;
    this.#connection.close();
    this.#resume();
  }

  #notify(): void {
    this.#resume();
    this.#onNews();
  }
}
