import { CLOSE, Refusal, type Reply, type RequestContext, textReply } from "../http/index.ts";
import type { Log } from "../logging/index.ts";
import { LIVE_PATH, POLL_PATH } from "../protocol/index.ts";
import { clientKey, type Holding, type MemoryRate, memoryRate } from "../rate-limit/index.ts";
import { readAsked } from "./asked.ts";
import { Hub } from "./hub.ts";
import { answerPoll } from "./poll.ts";
import { currentBus } from "./realtime.ts";
import { answerStream } from "./stream.ts";

/**
 * How often one client may poll. A page asks twice a second at most; but a poll costs a reading of the
 * bus, and may bring a hundred times what it took to ask.
 */
const POLLS = { calls: 600, seconds: 60 } as const;

/** Live updates of one application: the hub is made when the first page listens. */
export class Live {
  readonly #log: Log;
  readonly #open: Holding;
  readonly #polls: MemoryRate = memoryRate(POLLS);
  #hub: Hub | null = null;
  #isEnding = false;

  /** @param open counts what each client holds open */
  constructor(log: Log, open: Holding) {
    this.#log = log;
    this.#open = open;
  }

  /**
   * Answers a page that listens, by a stream or by a poll; `null` for any other path.
   *
   * @throws Refusal for what no page of ours would ask, and `rate_limited` for a client that has too much open
   */
  answer(context: RequestContext, path: string): Reply | Promise<Reply> | null {
    const isStream = path === LIVE_PATH;
    if (!isStream && path !== POLL_PATH) return null;
    if (this.#isEnding) {
      return textReply(503, "This process is about to stop; another one answers.\n", { "retry-after": "1", ...CLOSE });
    }
    if (!isStream) this.#count(context.address);
    const asked = readAsked(context);
    this.#hub ??= new Hub(currentBus(), this.#log);
    const release = this.#hold(context.address);
    if (isStream) return answerStream(asked, this.#hub, release);
    return answerPoll(asked, this.#hub, context).finally(release);
  }

  /** Ends all streams and polls, and takes no more: browsers go to another process. */
  drain(): void {
    this.#isEnding = true;
    this.#hub?.end();
  }

  /** Ends what is left. */
  close(): void {
    this.drain();
    this.#hub?.close();
    this.#hub = null;
  }

  #count(address: string): void {
    const seconds = this.#polls.take(clientKey(address));
    if (seconds === 0) return;
    throw new Refusal("rate_limited", `Too many polls: ${POLLS.calls} in ${POLLS.seconds} seconds are the most.`, {
      headers: { "retry-after": String(Math.ceil(seconds)) },
    });
  }

  #hold(address: string): () => void {
    const release = this.#open.hold(address);
    if (release) return release;
    throw new Refusal("rate_limited", `Too much is open at once: ${this.#open.most} is the most for one client.`, {
      headers: { "retry-after": "5" },
    });
  }
}
