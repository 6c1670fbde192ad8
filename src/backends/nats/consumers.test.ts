import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JetStreamContext } from "./connector.ts";
import { NatsConsumers, supportsFilters } from "./consumers.ts";

const BARRIER = "s.-";

/** What the server knows of a consumer. */
interface ServerConsumer {
  readonly name: string;
  readonly filters: readonly string[] | undefined;
  readonly start: number | undefined;
  isSubscribed: boolean;
  isDeleted: boolean;
  count: number;
  receive(message: unknown): void;
}

const opened: NatsConsumers[] = [];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const consumers of opened.splice(0)) consumers.close();
  vi.useRealTimers();
});

/** Opens the consumers of a process, and a fake server whose stream has 10 messages at first. */
function open(version = "2.15.1") {
  const events: string[] = [];
  const created: ServerConsumer[] = [];
  const listeners = new Set<string>();
  const stored: { readonly subject: string; readonly seq: number }[] = [];
  const state = { firstSeq: 1, lastSeq: 10, filters: true, isUnreachable: false, onAdd: async () => undefined };
  let next: Pick<ServerConsumer, "receive"> & { onUnsubscribe: () => void };
  const connection = {
    info: { version },
    subscribe(_inbox: string, { callback }: { callback: (error: null, message: unknown) => void }) {
      const subscription = { receive: (message: unknown) => callback(null, message), onUnsubscribe: () => {} };
      next = subscription;
      return { unsubscribe: () => subscription.onUnsubscribe() };
    },
  };
  const add = async (_stream: string, config: { filter_subjects?: string[]; opt_start_seq?: number }) => {
    const { receive } = next;
    const consumer: ServerConsumer = {
      ...{ name: `c${created.length}`, filters: config.filter_subjects, start: config.opt_start_seq, receive },
      ...{ isSubscribed: true, isDeleted: false, count: 0 },
    };
    next.onUnsubscribe = () => void Object.assign(consumer, { isSubscribed: false });
    created.push(consumer);
    if (state.isUnreachable) throw new Error("unreachable");
    const { start = Number.POSITIVE_INFINITY } = consumer;
    for (const { subject, seq } of stored.filter((message) => message.seq >= start)) deliver(subject, seq, consumer);
    await state.onAdd();
    const stream_seq = config.opt_start_seq === undefined ? state.lastSeq : config.opt_start_seq - 1;
    const filter_subjects = state.filters ? config.filter_subjects : undefined;
    return { name: consumer.name, config: { filter_subjects }, delivered: { stream_seq }, num_pending: 0 };
  };
  const remove = async (_stream: string, name: string) => {
    for (const consumer of created) if (consumer.name === name) consumer.isDeleted = true;
  };
  const context = {
    ...{ connection, manager: { consumers: { add, delete: remove } }, epoch: "e", createInbox: () => "inbox" },
    untilDisconnect: <T>(response: Promise<T>) => response,
  };
  const publishBarrier = vi.fn(async () => {
    deliver(BARRIER, ++state.lastSeq);
    return state.lastSeq;
  });
  const consumers = new NatsConsumers("s", {
    barrierSubject: BARRIER,
    context: async () => context as unknown as JetStreamContext, // what consumers use of it
    inspect: async () => ({
      ...{ epoch: "e", firstSeq: state.firstSeq, lastSeq: state.lastSeq, atMs: Date.now() },
      ...{ maxBytes: 0, maxMessages: 0 }, // each message is checked
    }),
    publishBarrier,
    isNeeded: (subject) => listeners.has(subject),
    onStopped: () => events.push("stopped"),
    onEnd: () => undefined,
    onMessage: ({ subject, seq }) => void (subject !== BARRIER && events.push(`${subject} ${seq}`)),
    onResumed: (subjects) => events.push(`resumed ${[...(subjects ?? ["all"])]}`),
    onProgress: ({ seq }, subjects) => events.push(`progress ${seq} ${[...(subjects ?? ["all"])]}`),
    onUnexpected: () => events.push("unexpected"),
    onRefused: () => events.push("refused"),
  });
  opened.push(consumers);
  /**
   * Delivers a message by the consumers that are subscribed and receive its subject, or by one of them. What is delivered by
   * all is delivered again to consumers that start before it.
   */
  const deliver = (subject: string, seq: number, only?: ServerConsumer) => {
    state.lastSeq = Math.max(state.lastSeq, seq);
    if (!only) stored.push({ subject, seq });
    for (const consumer of only ? [only] : created) {
      if (!consumer.isSubscribed || (consumer.filters && !consumer.filters.includes(subject))) continue;
      const reply = `$JS.ACK.s.c.1.${seq}.${++consumer.count}.${Date.now() * 1_000_000}.0`;
      const headers = { get: () => `id ${seq}` };
      consumer.receive({ subject, reply, headers, string: () => "1" });
    }
  };
  const cover = async (...subjects: string[]) => {
    for (const subject of subjects) listeners.add(subject);
    const covered = Promise.all(subjects.map((subject) => consumers.cover(subject)));
    await vi.advanceTimersByTimeAsync(100);
    await covered;
  };
  setInterval(() => {
    for (const { receive, count, isSubscribed } of created) {
      const get = (name: string) => (name === "Nats-Last-Consumer" ? String(count) : "");
      if (isSubscribed) receive({ subject: "inbox", headers: { code: 100, get } });
    }
  }, 1_000);
  const settle = () => vi.advanceTimersByTimeAsync(0);
  const active = () => created.filter(({ isSubscribed }) => isSubscribed);
  return { consumers, events, created, state, listeners, deliver, cover, settle, active, publishBarrier };
}

it.each([
  ["2.9.10", false],
  ["2.10.0", false],
  ["2.10.13", false],
  ["2.10.14", true],
  ["2.11.0-RC.1", true],
  ["2.15.1", true],
  ["3.0.0", true],
  ["", false],
])("knows whether version %s filters several subjects without losing messages: %s", (version, expected) => {
  expect(supportsFilters({ version } as Parameters<typeof supportsFilters>[0])).toBe(expected);
});

describe("the consumers of a process", () => {
  it("receive the subjects that are covered, and changes that are requested together by one consumer", async () => {
    const { events, created, cover, deliver, settle, active } = open();
    await cover("a");
    await cover("b", "c", "d");
    // One that was being created did not have all of them yet.
    expect(active().map(({ filters }) => filters)).toEqual([[BARRIER, "a", "b", "c", "d"]]);
    expect(created.length).toBeLessThanOrEqual(3);
    expect(created.every(({ isSubscribed, isDeleted }) => isSubscribed !== isDeleted)).toBe(true);
    deliver("d", 11);
    deliver("x", 12);
    deliver("a", 13);
    await settle();
    expect(events).toEqual(["resumed a", "d 11", "a 13"]);
  });

  it("pass on each message once while another consumer takes over, also if the new one is faster", async () => {
    const { events, cover, deliver, settle, state, created } = open();
    await cover("a");
    deliver("a", 11);
    await settle();
    state.onAdd = async () => {
      const [first, second] = [created[0], created.at(-1)];
      expect(second).toMatchObject({ start: 11, filters: [BARRIER, "a", "b"] });
      deliver("a", 12, second);
      deliver("a", 12, first);
      deliver("a", 14, first);
    };
    await cover("b");
    const second = created.at(-1);
    deliver("a", 14, second);
    deliver("b", 15, second);
    deliver("a", 16);
    await settle();
    expect(events).toEqual(["resumed a", "a 11", "a 12", "a 14", "b 15", "a 16"]);
  });

  it("continue after the end at which they have started if nothing was delivered since", async () => {
    const { events, cover, created, deliver, settle } = open();
    await cover("a");
    await cover("b");
    expect(created.map(({ start }) => start)).toEqual([undefined, 11]);
    deliver("b", 12);
    await settle();
    expect(events).toEqual(["resumed a", "b 12"]);
  });

  it("are several with at most 200 subjects each", async () => {
    const { cover, active, deliver, settle, events } = open();
    await cover(...Array.from({ length: 450 }, (_, at) => `s${at}`));
    expect(active().map(({ filters = [] }) => filters.length)).toEqual([201, 201, 51]);
    for (const [at, subject] of ["s0", "s250", "s449"].entries()) deliver(subject, 11 + at);
    await settle();
    expect(events.slice(-3)).toEqual(["s0 11", "s250 12", "s449 13"]);
  });

  it("report progress at a barrier, and publish one if none was published for 10 to 13 seconds", async () => {
    const { events, cover, deliver, settle, publishBarrier } = open();
    await cover("a", "b");
    await vi.advanceTimersByTimeAsync(8_000);
    deliver(BARRIER, 11); // of another process
    await settle();
    expect(events.at(-1)).toBe("progress 11 a,b");
    await vi.advanceTimersByTimeAsync(9_000);
    expect(publishBarrier).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(publishBarrier).toHaveBeenCalledTimes(1);
    expect(events.at(-1)).toBe("progress 12 a,b");
  });

  it("remove subjects without listeners later and together, and end without any", async () => {
    const { cover, active, listeners, created, publishBarrier } = open();
    await cover("a", "b", "c");
    const before = created.length;
    listeners.delete("b");
    listeners.delete("c");
    await vi.advanceTimersByTimeAsync(14_000);
    expect([created.length, active()[0]?.filters]).toEqual([before + 1, [BARRIER, "a"]]);
    await vi.advanceTimersByTimeAsync(14_000);
    const calls = publishBarrier.mock.calls.length;
    listeners.delete("a");
    await vi.advanceTimersByTimeAsync(40_000);
    expect(active()).toEqual([]);
    expect(created.filter(({ isDeleted }) => !isDeleted)).toEqual([]);
    expect(publishBarrier.mock.calls.length).toBeLessThanOrEqual(calls + 1);
    await cover("a");
    expect(active()).toHaveLength(1);
  });

  it("cover a subject that is removed at the same moment", async () => {
    const { consumers, cover, active, listeners, state, deliver, settle, events } = open();
    await cover("a", "b");
    deliver(BARRIER, 11);
    listeners.delete("b");
    let covering: Promise<void> | undefined;
    state.onAdd = async () => {
      // The consumer without it is being created.
      listeners.add("b");
      covering ??= consumers.cover("b");
    };
    await vi.advanceTimersByTimeAsync(14_000);
    expect(covering).toBeDefined();
    await covering;
    const receiving = active().filter(({ filters }) => filters?.includes("b"));
    expect(receiving).toHaveLength(1);
    deliver("b", 30);
    await settle();
    expect(events.at(-1)).toBe("b 30");
  });

  it("are replaced, and their listeners read, if a barrier does not arrive within 5 seconds", async () => {
    const { events, cover, publishBarrier, state, created } = open();
    await cover("a");
    publishBarrier.mockImplementation(async () => ++state.lastSeq); // it is stored, and not delivered
    await vi.advanceTimersByTimeAsync(13_500);
    expect(events).toEqual(["resumed a"]);
    await vi.advanceTimersByTimeAsync(6_500);
    expect(events).toEqual(["resumed a", "stopped", "resumed a"]);
    expect(created.at(-1)?.start).toBeUndefined();
  });

  it("are replaced, and their listeners read, if the stream has removed messages that were not delivered", async () => {
    const { events, cover, deliver, settle, state } = open();
    await cover("a");
    deliver("a", 11);
    await settle();
    state.firstSeq = 13;
    deliver("a", 20);
    await settle();
    await vi.advanceTimersByTimeAsync(300);
    expect(events).toEqual(["resumed a", "a 11", "stopped", "resumed a"]);
    deliver("a", 21);
    await settle();
    expect(events.at(-1)).toBe("a 21");
  });

  it("do not continue with a consumer that was being created when messages turned out to be missing", async () => {
    const { events, cover, deliver, settle, state } = open();
    await cover("a");
    deliver("a", 11);
    await settle();
    state.onAdd = async () => {
      state.onAdd = async () => undefined;
      state.firstSeq = 15;
      deliver("a", 20);
      await vi.advanceTimersByTimeAsync(0);
    };
    await cover("b").catch(() => undefined);
    await vi.advanceTimersByTimeAsync(500);
    expect(events.slice(0, 3)).toEqual(["resumed a", "a 11", "stopped"]);
    expect(events.at(-1)).toMatch(/^resumed a/);
  });

  it("receive all subjects below NATS 2.10.14, and report progress every 10 to 13 seconds", async () => {
    const { events, cover, active, deliver, publishBarrier } = open("2.10.13");
    await cover("a", "b");
    deliver("x", 11);
    deliver("a", 12);
    await vi.advanceTimersByTimeAsync(14_000);
    expect(active().map(({ filters }) => filters)).toEqual([undefined]);
    expect(events).toEqual(["resumed all", "x 11", "a 12", "progress 12 all"]);
    await vi.advanceTimersByTimeAsync(14_000);
    expect(events).toHaveLength(4);
    expect(publishBarrier).not.toHaveBeenCalled();
  });

  it("receive all subjects if a server of the cluster does not filter", async () => {
    const { events, cover, active, state, deliver } = open();
    state.filters = false;
    await cover("a", "b");
    expect(active().map(({ filters }) => filters)).toEqual([undefined]);
    deliver("b", 11);
    expect(events).toEqual(["refused", "resumed all", "b 11"]);
  });

  it("reject a subject that cannot be covered, and cover it when it is tried again", async () => {
    const { consumers, cover, state, active } = open();
    state.isUnreachable = true;
    await expect(consumers.cover("a")).rejects.toThrow("unreachable");
    state.isUnreachable = false;
    await cover("a");
    expect(active()).toHaveLength(1);
  });
});
