import type { StreamConfig } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { PresenceEntry, PresenceMember, PresenceStore, PresenceWatch } from "../bus/index.ts";
import { receiveControlMessage } from "./active-consumer.ts";
import type { ConnectionContext, NatsStoreOptions } from "./connector.ts";
import { encodeSubjectToken, parseDelivery } from "./position.ts";
import {
  type Active,
  discard,
  formatMember,
  LimitedQueue,
  newView,
  notify,
  parseMember,
  REMOVED,
  REMOVED_BY_ID,
  type StoredMessage,
  stateOf,
  untilDelivered,
  type View,
} from "./presence-view.ts";
import { findOrCreateStream, isNoResponders, isStreamNotFound, isWrongLastSequence } from "./stream.ts";
import { NS_PER_MS } from "./stream-config.ts";

/** How long the server stores a message: NATS 2.9 has no time limit for a single one, so leases are compared by readers. */
const MAX_AGE_MS = 900_000;

/** After which time a member is stored again, so that the server does not remove it. */
const STORE_AGAIN_MS = 300_000;

/** The maximum bytes of a namespace. When they are reached, the server removes the oldest messages. */
const MAX_BYTES = 256 * 1024 ** 2;

/** How often an idle server sends a heartbeat, and how long without one until the consumer is replaced. */
const HEARTBEAT_MS = 2_000;
const HEARTBEAT_TIMEOUT_MS = 6_000;

/** After how long the server removes a consumer whose subscriber is disconnected. */
const INACTIVE_THRESHOLD_MS = 30_000;

/**
 * How many consumers a process creates or deletes at a time. Each channel has one: after a lost connection, a server that got the
 * requests for thousands at once would respond to nothing else, lose the connection again, and keep what it had created.
 */
const MAX_CHANGES = 8;

/**
 * Who is present, in NATS: a stream in memory with one message for each member, state and lease. The times of leases are those at
 * which the server has stored them.
 */
export class NatsPresence implements PresenceStore {
  readonly #options: NatsStoreOptions;
  readonly #stream: string;
  readonly #prefix: string;
  readonly #views = new Map<string, View>();
  readonly #creations = new LimitedQueue(MAX_CHANGES);
  /** Apart from the creations: while the server is unreachable, each takes until its timeout. */
  readonly #removals = new LimitedQueue(MAX_CHANGES);
  #isStreamReady = false;
  /** The clock of the server minus `performance.now`. */
  #clockOffsetMs = Number.NEGATIVE_INFINITY;

  constructor(options: NatsStoreOptions) {
    this.#options = options;
    this.#stream = `tsweb-presence-${options.namespace}`;
    this.#prefix = `tsweb.presence.${options.namespace}.`;
  }

  async watch(channel: string, watch: PresenceWatch): Promise<() => void> {
    const view = this.#views.get(channel) ?? newView(channel);
    this.#views.set(channel, view);
    const added = { ...watch };
    view.watches.add(added);
    const stop = () => {
      view.watches.delete(added);
      if (view.watches.size > 0 || this.#views.get(channel) !== view) return;
      this.#views.delete(channel);
      this.#discard(view);
    };
    try {
      await this.renew(channel, watch.holder, watch.leaseMs);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  async renew(channel: string, holder: string, leaseMs: number): Promise<void> {
    await this.#run(async (context) => {
      const view = this.#views.get(channel);
      if (view) await this.#activate(view, context);
      await this.#publish(context, { channel, token: `h${holder}`, text: String(leaseMs) });
      if (view) await this.#storeAgain(context, view, holder);
    });
  }

  isEmpty(channel: string): Promise<boolean> {
    return this.#run(async ({ manager, untilDisconnect }) => {
      const filter = this.#subjectOf(channel, "*");
      const { state } = await untilDisconnect(manager.streams.info(this.#stream, { subjects_filter: filter }));
      const members = this.#subjectOf(channel, "m");
      return !Object.keys(state.subjects ?? {}).some((subject) => subject.startsWith(members));
    });
  }

  read(channel: string): Promise<readonly PresenceMember[]> {
    const view = this.#views.get(channel);
    if (!view) return Promise.resolve([]);
    return this.#run(async (context) => {
      await this.#activate(view, context);
      await untilDelivered(view, view.writtenSeq);
      this.#removeExpired(view);
      return [...view.messages.keys()].flatMap((token) => this.#memberOf(view, token) ?? []);
    });
  }

  async put(
    channel: string,
    { id, holder, value, state }: PresenceEntry,
    { ifAbsent = false }: { readonly ifAbsent?: boolean } = {},
  ): Promise<void> {
    await this.#run(async (context) => {
      const member = { channel, token: `m${id}`, text: formatMember(holder, value) };
      if (ifAbsent) {
        const stored = await this.#find(context, channel, id);
        if (stored.member && stored.member.holder !== holder && this.#isValid(channel, stored.member.holder)) return;
        if (!(await this.#publish(context, { ...member, after: stored.seq }))) return; // another holder was faster
      } else {
        await this.#publish(context, member);
      }
      if (state !== undefined) await this.#publish(context, { channel, token: `s${id}`, text: state });
    });
  }

  async remove(channel: string, id: string, holder: string | null): Promise<void> {
    await this.#run(async (context) => {
      for (;;) {
        const { seq, member } = await this.#find(context, channel, id);
        if (!member || (holder !== null && member.holder !== holder)) return;
        const text = holder === null ? REMOVED_BY_ID : REMOVED;
        if (await this.#publish(context, { channel, token: `m${id}`, text, after: seq })) break;
      }
      await this.#publish(context, { channel, token: `s${id}`, text: "" });
    });
  }

  setState(channel: string, id: string, json: string): Promise<boolean> {
    return this.#run(async (context) => {
      const { member } = await this.#find(context, channel, id);
      if (!member || !this.#isValid(channel, member.holder)) return false;
      await this.#publish(context, { channel, token: `s${id}`, text: json });
      return true;
    });
  }

  /** Replaces all consumers: they may have missed messages. */
  restart(): void {
    this.#isStreamReady = false;
    for (const view of this.#views.values()) this.#invalidate(view);
  }

  close(): void {
    for (const view of this.#views.values()) discard(view);
    this.#views.clear();
  }

  /** Runs an operation. If the stream does not exist any more, the next attempt creates it. */
  #run<T>(operation: (context: ConnectionContext) => Promise<T>): Promise<T> {
    return this.#options.run(async (context) => {
      try {
        if (!this.#isStreamReady) await this.#openStream(context);
        return await operation(context);
      } catch (error) {
        if (isStreamNotFound(error) || isNoResponders(error)) this.#isStreamReady = false;
        throw error;
      }
    });
  }

  async #openStream({ manager, replicas, untilDisconnect }: ConnectionContext): Promise<void> {
    const config = {
      ...{ name: this.#stream, subjects: [`${this.#prefix}>`], storage: "memory", num_replicas: replicas },
      ...{ max_msgs_per_subject: 1, max_age: MAX_AGE_MS * NS_PER_MS, max_bytes: MAX_BYTES, discard: "old" },
    } satisfies Partial<StreamConfig>;
    await untilDisconnect(findOrCreateStream(manager, config));
    this.#isStreamReady = true;
  }

  /**
   * Stores a message.
   *
   * @param after the sequence of the last message of the subject, 0 for none: nothing is stored after another one
   * @returns whether it is stored
   */
  async #publish(
    { jetStream, untilDisconnect }: ConnectionContext,
    { channel, token, text, after }: { channel: string; token: string; text: string; after?: number },
  ): Promise<boolean> {
    const subject = this.#subjectOf(channel, token);
    const options = after === undefined ? {} : { expect: { lastSubjectSequence: after } };
    try {
      const { seq } = await untilDisconnect(jetStream.publish(subject, text, options));
      if (seq === 0) throw new Error("NATS has received who is present, and has not stored it yet.");
      const view = this.#views.get(channel);
      if (view) view.writtenSeq = Math.max(view.writtenSeq, seq);
      return true;
    } catch (error) {
      if (after !== undefined && isWrongLastSequence(error)) return false;
      throw error;
    }
  }

  /** Reads the stored message of a member: its sequence, 0 for none, and the member unless it was removed. */
  async #find({ manager, untilDisconnect }: ConnectionContext, channel: string, id: string) {
    const subject = this.#subjectOf(channel, `m${id}`);
    const message = await untilDisconnect(manager.streams.getMessage(this.#stream, { last_by_subj: subject }));
    return { seq: message?.seq ?? 0, member: message ? parseMember(message.string()) : undefined };
  }

  /** Stores the members of a holder again before the server removes them by their age. */
  async #storeAgain(context: ConnectionContext, view: View, holder: string): Promise<void> {
    for (const [token, { seq, atMs, text }] of view.messages) {
      if (!token.startsWith("m") || parseMember(text)?.holder !== holder) continue;
      if (this.#now() - atMs < STORE_AGAIN_MS) continue;
      const { channel } = view;
      const isStored = await this.#publish(context, { channel, token, text, after: seq });
      const stateToken = `s${token.slice(1)}`;
      const state = view.messages.get(stateToken);
      if (isStored && state) {
        await this.#publish(context, { channel, token: stateToken, text: state.text, after: state.seq });
      }
    }
  }

  #memberOf({ channel, messages }: View, token: string): PresenceMember | undefined {
    const member = token.startsWith("m") ? parseMember(messages.get(token)?.text ?? REMOVED) : undefined;
    if (!member || !this.#isValid(channel, member.holder)) return undefined;
    const id = token.slice(1);
    return { id, ...member, state: stateOf(messages.get(`s${id}`)) };
  }

  /** Returns whether the lease of a holder lasts, as far as known: a process that does not watch the channel cannot know. */
  #isValid(channel: string, holder: string): boolean {
    const view = this.#views.get(channel);
    if (!view?.active?.isComplete) return true;
    return this.#hasLease(view.messages.get(`h${holder}`));
  }

  #hasLease(lease: StoredMessage | undefined): boolean {
    return lease !== undefined && lease.atMs + Number(lease.text) > this.#now();
  }

  /** The time of the server, in milliseconds. */
  #now(): number {
    return performance.now() + this.#clockOffsetMs;
  }

  #removeExpired({ messages }: View): void {
    for (const [token, { atMs }] of messages) if (atMs + MAX_AGE_MS <= this.#now()) messages.delete(token);
  }

  #subjectOf(channel: string, token: string): string {
    return `${this.#prefix}${encodeSubjectToken(channel)}.${token}`;
  }

  /** Creates the consumer of a view, unless it is active. Resolves when it has delivered what is stored. */
  async #activate(view: View, context: ConnectionContext): Promise<void> {
    const { active } = view;
    if (active && performance.now() - active.lastActivityMs > HEARTBEAT_TIMEOUT_MS) this.#discard(view);
    if (view.active?.isComplete && view.active.connection === context.connection) return;
    view.activating ??= this.#creations
      .add(() => this.#createConsumer(view, context))
      .finally(() => {
        view.activating = null;
      });
    await view.activating;
  }

  async #createConsumer(view: View, context: ConnectionContext): Promise<void> {
    const { connection, manager, untilDisconnect } = context;
    this.#discard(view);
    if (view.watches.size === 0) throw new Error("Nobody watches the channel any more.");
    const inbox = context.createInbox();
    const callback = (error: Error | null, message: Msg) => {
      if (view.active !== active) return;
      if (error || !this.#receive(view, active, message)) this.#invalidate(view);
    };
    const subscription = connection.subscribe(inbox, { callback });
    const active: Active = {
      ...{ connection, subscription, remove: undefined, consumerSequence: 0, seq: 0 },
      ...{ lastActivityMs: performance.now(), isComplete: false, waiting: new Set() },
    };
    view.active = active;
    view.messages = new Map();
    view.writtenSeq = 0; // the stream may have been created again
    try {
      const { name } = await untilDisconnect(
        manager.consumers.add(this.#stream, {
          ...{ deliver_subject: inbox, deliver_policy: "last_per_subject", ack_policy: "none", max_deliver: 1 },
          filter_subject: this.#subjectOf(view.channel, "*"),
          ...{ flow_control: true, idle_heartbeat: HEARTBEAT_MS * NS_PER_MS },
          ...{ inactive_threshold: INACTIVE_THRESHOLD_MS * NS_PER_MS, mem_storage: true, num_replicas: 1 },
        }),
      );
      active.remove = () => manager.consumers.delete(this.#stream, name);
      if (view.active !== active) throw new Error("The consumer of NATS was lost.");
      // A message that is stored now is delivered after everything that was stored before, and has the time of the server.
      for (const { holder, leaseMs } of view.watches) {
        await this.#publish(context, { channel: view.channel, token: `h${holder}`, text: String(leaseMs) });
      }
      await untilDelivered(view, view.writtenSeq);
      active.isComplete = true;
    } catch (error) {
      if (view.active === active) this.#discard(view);
      else this.#remove(active);
      throw error;
    }
  }

  /** Processes what the subscription of a consumer receives. @returns false if the consumer has to be replaced */
  #receive(view: View, active: Active, message: Msg): boolean {
    active.lastActivityMs = performance.now();
    const delivery = parseDelivery(message.reply);
    if (!delivery) {
      return receiveControlMessage(message, active.connection, active.consumerSequence);
    }
    if (delivery.consumerSequence !== active.consumerSequence + 1) return false;
    active.consumerSequence = delivery.consumerSequence;
    const token = message.subject.slice(message.subject.lastIndexOf(".") + 1);
    const { streamSequence: seq, storedAtMs } = delivery;
    this.#record(view, token, { seq, atMs: Math.floor(storedAtMs), text: message.string() });
    active.seq = seq;
    for (const resume of active.waiting) resume();
    return true;
  }

  #record(view: View, token: string, message: StoredMessage): void {
    const isOwnLease = [...view.watches].some(({ holder }) => token === `h${holder}`);
    const offsetMs = message.atMs - performance.now();
    // Its own lease comes back at once, so it also shows that the clock of the server was set back.
    if (isOwnLease || offsetMs > this.#clockOffsetMs) this.#clockOffsetMs = offsetMs;
    const before = view.messages.get(token);
    const isChange = token.startsWith("h")
      ? !this.#hasLease(before)
      : (token.startsWith("m") ? parseMember(before?.text ?? "")?.value : before?.text) !==
        (token.startsWith("m") ? parseMember(message.text)?.value : message.text);
    view.messages.set(token, message);
    if (!view.active?.isComplete || !isChange) return;
    notify(view, message.text === REMOVED_BY_ID ? token.slice(1) : undefined);
  }

  /** Ends the consumer of a view, and deletes it. */
  #discard(view: View): void {
    const { active } = view;
    discard(view);
    if (active) this.#remove(active);
  }

  /** Deletes a consumer. If that fails, the server removes it later. */
  #remove(active: Active): void {
    const { remove } = active;
    active.remove = undefined;
    if (remove) this.#removals.add(remove).catch(() => undefined);
  }

  #invalidate(view: View): void {
    this.#discard(view);
    notify(view);
  }
}
