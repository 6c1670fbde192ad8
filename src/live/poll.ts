import { jsonReply, Refusal, type Reply, type RequestContext } from "../http/index.ts";
import type { Asked } from "./asked.ts";
import type { Lost } from "./connection.ts";
import { writeCursor } from "./cursor.ts";
import type { Guest, Hub } from "./hub.ts";
import type { Reader } from "./reader.ts";
import type { Frame } from "./tail.ts";
import type { Listener } from "./watched.ts";

/** The longest that a poll may wait, in seconds. */
const MAX_WAIT_SECONDS = 25;

/** About how much one answer holds; what is left comes with the next: an answer that is full says so. */
const MAX_ANSWER_BYTES = 128 * 1024;

/**
 * Answers a page that cannot keep a stream open: what has come since its cursor, at once if there is
 * anything, otherwise once there is or `wait` seconds are over.
 *
 * @throws Refusal 400 for a `wait` that is none, 503 while the bus is away
 * @see the interface, "Poll fallback"
 */
export async function answerPoll({ readers, lost }: Asked, hub: Hub, context: RequestContext): Promise<Reply> {
  const seconds = waitOf(context.url.searchParams.get("wait") ?? "0");
  const poll = new Poll(hub, readers, lost);
  try {
    await poll.run({ until: performance.now() + seconds * 1000, signal: context.raw.signal });
    return jsonReply(200, poll.json());
  } catch (error) {
    hub.failed(error);
    throw new Refusal("internal", "Live updates are away for a moment.", {
      status: 503,
      headers: { "retry-after": "2" },
    });
  } finally {
    poll.end();
  }
}

function waitOf(text: string): number {
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= MAX_WAIT_SECONDS) return seconds;
  throw new Refusal("validation_error", `wait is a whole number from 0 to ${MAX_WAIT_SECONDS}, in seconds.`, {
    status: 400,
  });
}

interface Patience {
  /** In milliseconds, of {@link performance.now}. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** A poll on its way: gathers what there is, and waits while there is nothing. */
class Poll implements Listener, Guest {
  readonly #hub: Hub;
  readonly #readers: readonly Reader[];
  readonly #events: string[] = [];
  readonly #gaps: string[] = [];
  #bytes = 0;
  /** Whether it is told what comes to its channels. */
  #waits = false;
  #isWoken = false;
  #isEnding = false;
  #resume: (() => void) | null = null;

  constructor(hub: Hub, readers: readonly Reader[], lost: readonly Lost[]) {
    this.#hub = hub;
    this.#readers = readers;
    for (const { reader, reason } of lost) this.#addGap(reader, reason);
  }

  async run({ until, signal }: Patience): Promise<void> {
    if (until > performance.now()) this.#listen();
    else this.#look();
    await this.#gather();
    while (this.#isEmpty && !this.#isEnding && !signal.aborted && performance.now() < until) {
      await this.#nap({ until, signal });
      await this.#gather();
    }
  }

  json(): string {
    const cursor = writeCursor(this.#readers.map(({ position }) => position));
    const more = this.#bytes < MAX_ANSWER_BYTES ? "" : ',"more":true';
    return `{"events":[${this.#events.join()}],"gaps":[${this.#gaps.join()}],"cursor":${JSON.stringify(cursor)}${more}}`;
  }

  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  /** A channel that the bus failed may have something by now. */
  tick(): void {
    if (this.#readers.some((reader) => !reader.isOver && !reader.isLive)) this.wake();
  }

  end(): void {
    this.#isEnding = true;
    this.#hub.release(this);
    for (const { channel } of this.#readers) this.#hub.ignore(channel, this);
    this.#resume?.();
  }

  get #isEmpty(): boolean {
    return this.#events.length === 0 && this.#gaps.length === 0;
  }

  #listen(): void {
    this.#waits = true;
    this.#hub.admit(this);
    for (const reader of this.#readers) {
      if (!reader.isOver) reader.follow(this.#hub.listen(reader.channel, this));
    }
  }

  /** Takes what this process knows already of channels that others listen to: they need not be read. */
  #look(): void {
    for (const reader of this.#readers) {
      const watched = this.#hub.watched(reader.channel);
      if (watched) reader.follow(watched);
    }
  }

  async #gather(): Promise<void> {
    this.#isWoken = false;
    for (const reader of this.#readers) {
      for (let more = true; more && !reader.isOver && this.#bytes < MAX_ANSWER_BYTES; ) more = await this.#take(reader);
    }
  }

  /** Takes what is next of a feed. @returns whether there may be more at once */
  async #take(reader: Reader): Promise<boolean> {
    if (reader.isLive) {
      const frames = reader.takeFrames();
      this.#add(reader, frames);
      return frames.length > 0;
    }
    const batch = await this.#hub.read(reader.channel, reader.position, reader.limit);
    const frames = reader.takeBatch(batch);
    if (typeof frames === "string") {
      this.#addGap(reader, frames);
      return false;
    }
    if (frames.length === 0 && !batch.more) return !reader.settle(batch.end) && this.#waits && reader.catchUp();
    this.#add(reader, frames);
    reader.moveTo(batch.end);
    return batch.more;
  }

  #add(reader: Reader, frames: readonly Frame[]): void {
    const channel = JSON.stringify(reader.channel);
    for (const { data } of frames) {
      this.#events.push(`[${channel},${data}]`);
      this.#bytes += data.length;
    }
  }

  #addGap(reader: Reader, reason: string): void {
    reader.end();
    this.#gaps.push(JSON.stringify([reader.channel, reason]));
  }

  #nap({ until, signal }: Patience): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#resume = null;
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, until - performance.now()));
      signal.addEventListener("abort", wake);
      this.#resume = wake;
      if (this.#isWoken || this.#isEnding) wake();
    });
  }
}
