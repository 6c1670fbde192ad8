import type { ChannelSubscription, Subscriber } from "../channel-subscription.ts";
import { SIGN_OUTS } from "../presence-rooms.ts";
import { writeLimit } from "../write-limit.ts";
import type { QueryHub } from "./query-channels.ts";

const LIMIT = writeLimit(1);

/** Notices the sign-outs of all processes, also those of while the bus was unreachable. */
export class SignOuts implements Subscriber {
  readonly #hub: QueryHub;
  readonly #onSignedOut: (tag: string) => void;
  readonly #subscription: ChannelSubscription;
  /** The index of the next message; `null` until the bus has returned the end of the channel. */
  #nextIndex: number | null = null;

  /** @param onSignedOut called with the tag of a sign-in that has ended */
  constructor(hub: QueryHub, onSignedOut: (tag: string) => void) {
    this.#hub = hub;
    this.#onSignedOut = onSignedOut;
    this.#subscription = hub.subscribe(SIGN_OUTS, this);
    this.notify();
  }

  notify(): void {
    const { buffer } = this.#subscription;
    if (!buffer) return;
    // After a gap, sign-outs may have been missed: these connections end with their event streams.
    if (this.#nextIndex === null || !buffer.hasFrom(this.#nextIndex)) this.#nextIndex = buffer.endIndex;
    for (let more = true; more; ) {
      const messages = buffer.messagesFrom(this.#nextIndex, LIMIT);
      this.#nextIndex += messages.length;
      for (const { data } of messages) this.#onSignedOut(JSON.parse(data)); // written by a process of the application
      more = messages.length > 0;
    }
  }

  close(): void {
    this.#hub.unsubscribe(SIGN_OUTS, this);
  }
}
