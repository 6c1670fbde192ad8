/**
 * The messages of one channel in the stream of who is present: how they are delivered, and what they mean. And the queue of the
 * requests that create and delete their consumers.
 */
import type { NatsConnection, Subscription } from "@nats-io/transport-node";
import type { PresenceState, PresenceWatch } from "../bus/index.ts";

/** The texts that mark a member as removed: by its holder, and regardless of its holder. */
export const REMOVED = "";
export const REMOVED_BY_ID = "-";

/** The last message of a subject. */
export interface StoredMessage {
  readonly seq: number;
  /** When the server stored it, by its clock. */
  readonly atMs: number;
  readonly text: string;
}

/** The messages of one channel, as a consumer has delivered them. */
export interface View {
  readonly channel: string;
  readonly watches: Set<PresenceWatch>;
  /** By the last token of the subject: `m<id>` a member, `s<id>` its state, `h<holder>` the lease of a holder. */
  messages: Map<string, StoredMessage>;
  active: Active | null;
  activating: Promise<void> | null;
  /** The sequence of the last message that this process has stored in the channel: reads wait for it. */
  writtenSeq: number;
}

/** A consumer on the server, and the subscription to its deliveries. */
export interface Active {
  readonly connection: NatsConnection;
  readonly subscription: Subscription;
  /** Deletes it on the server; undefined until it is created. */
  remove: (() => Promise<unknown>) | undefined;
  consumerSequence: number;
  /** The sequence of the last delivery in the stream. */
  seq: number;
  lastActivityMs: number;
  /** Whether it has delivered everything that was stored when it was created. */
  isComplete: boolean;
  /** Called after each delivery, and when the consumer is discarded. */
  readonly waiting: Set<() => void>;
}

export function newView(channel: string): View {
  return { channel, watches: new Set(), messages: new Map(), active: null, activating: null, writtenSeq: 0 };
}

export function notify({ watches }: View, removedId?: string): void {
  for (const { listener } of watches) listener(removedId);
}

export function discard(view: View): void {
  const { active } = view;
  view.active = null;
  active?.subscription.unsubscribe();
  for (const resume of active?.waiting ?? []) resume();
}

/** Waits until the consumer has delivered the message with a sequence, or a later one. */
export async function untilDelivered(view: View, seq: number): Promise<void> {
  const { active } = view;
  if (!active) throw new Error("The consumer of NATS was lost.");
  while (active.seq < seq) {
    await new Promise<void>((resolve) => {
      const resume = () => {
        active.waiting.delete(resume);
        resolve();
      };
      active.waiting.add(resume);
    });
    if (view.active !== active) throw new Error("The consumer of NATS was lost.");
  }
}

export function formatMember(holder: string, value: string): string {
  return `${holder} ${value}`;
}

/** Parses the text of a member; undefined if it was removed. */
export function parseMember(text: string): { readonly holder: string; readonly value: string } | undefined {
  const [, holder, value] = /^(\S+) (.*)$/s.exec(text) ?? [];
  return holder === undefined || value === undefined ? undefined : { holder, value };
}

export function stateOf(message: StoredMessage | undefined): PresenceState | null {
  return message && message.text !== "" ? { json: message.text, order: message.seq } : null;
}

/** Runs requests, a number of them at a time. */
export class LimitedQueue {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async add<T>(request: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await request();
    } finally {
      const next = this.#waiting.shift();
      if (next)
        next(); // it runs in place of this one
      else this.#running--;
    }
  }
}
