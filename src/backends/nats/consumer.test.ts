import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { JetStreamContext } from "./connector.ts";
import { NatsConsumer } from "./consumer.ts";

/** A delivered message: the parts of the client's `Msg` that the consumer reads. */
interface FakeMessage {
  readonly subject?: string;
  readonly reply?: string;
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The id of the message with a stream sequence. */
const idOf = (seq: number) => ({ "Nats-Msg-Id": `id ${seq}` });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Opens a consumer, and a fake server whose deliveries the test controls. */
function openConsumer() {
  const events: string[] = [];
  const responses: string[] = [];
  const subscriptions: { deliver(message: FakeMessage): void; isEnded: boolean }[] = [];
  let onAdd: () => Promise<void> = async () => undefined;
  const state = { lastSeq: 6, pending: 0, epoch: "e" };
  const starts: (number | undefined)[] = [];

  const subscribe = (_inbox: string, { callback }: { callback: (error: null, message: unknown) => void }) => {
    const subscription = {
      isEnded: false,
      deliver({ subject = "s.live.a", reply, code, headers = {} }: FakeMessage) {
        if (subscription.isEnded) return;
        const get = (name: string) => headers[name] ?? "";
        const respond = () => responses.push(String(reply));
        callback(null, { subject, reply, headers: { code, get }, string: () => '"text"', respond });
      },
    };
    subscriptions.push(subscription);
    return {
      unsubscribe: () => {
        subscription.isEnded = true;
      },
    };
  };
  const connection = { subscribe, publish: (subject: string) => responses.push(subject) };
  const add = async (_stream: string, { opt_start_seq }: { opt_start_seq?: number }) => {
    starts.push(opt_start_seq);
    await onAdd();
    const stream_seq = opt_start_seq === undefined ? state.lastSeq : opt_start_seq - 1;
    return { delivered: { stream_seq }, num_pending: state.pending };
  };
  const context = {
    connection,
    manager: { consumers: { add } },
    createInbox: () => "inbox",
    untilDisconnect: <T>(response: Promise<T>) => response,
  };
  const consumer = new NatsConsumer("s", {
    context: async () => ({ ...context, epoch: state.epoch }) as unknown as JetStreamContext, // what a consumer uses of it
    onStopped: () => events.push("stopped"),
    onEnd: (_epoch, seq) => events.push(`end ${seq}`),
    onResumed: () => events.push("resumed"),
    onMessage: ({ seq }) => events.push(String(seq)),
    onUnexpected: () => events.push("unexpected"),
  });
  const deliver = (seq: number, count: number, { index = subscriptions.length - 1, headers = idOf(seq) } = {}) =>
    subscriptions[index]?.deliver({ reply: `$JS.ACK.s.c.1.${seq}.${count}.1.0`, headers });
  const control = (headers: Record<string, string>, reply?: string) =>
    subscriptions.at(-1)?.deliver({ code: 100, headers, ...(reply === undefined ? {} : { reply }) });
  return {
    ...{ consumer, events, responses, subscriptions, deliver, control, state, starts },
    onConsumerAdd: (action: () => Promise<void>) => {
      onAdd = action;
    },
  };
}

it("passes on deliveries in order, after it was started once, and none after it was closed", async () => {
  const { consumer, events, deliver, subscriptions } = openConsumer();
  await Promise.all([consumer.start(), consumer.start()]);
  await consumer.start();
  deliver(7, 1);
  deliver(8, 2);
  expect(events).toEqual(["end 6", "resumed", "7", "8"]);
  expect(subscriptions).toHaveLength(1);
  consumer.close();
  deliver(9, 3);
  expect(events).toHaveLength(4);
});

it("does not pass on the messages of the first consumer before it reports that it has resumed", async () => {
  const { consumer, events, deliver, onConsumerAdd } = openConsumer();
  // The first delivery may arrive before the response to the request that created the consumer.
  onConsumerAdd(async () => deliver(12, 1));
  await consumer.start();
  deliver(13, 2);
  expect(events).toEqual(["end 12", "resumed", "13"]);
  consumer.close();
});

it("continues with the last delivery, which it does not pass on again", async () => {
  const { consumer, events, deliver, onConsumerAdd, starts } = openConsumer();
  await consumer.start();
  deliver(7, 1);
  deliver(8, 2);
  onConsumerAdd(async () => {
    deliver(8, 1);
    deliver(9, 2);
  });
  consumer.restart();
  await vi.advanceTimersByTimeAsync(0);
  deliver(10, 3);
  expect(events).toEqual(["end 6", "resumed", "7", "8", "stopped", "9", "10"]);
  expect(starts).toEqual([undefined, 8]);
  consumer.close();
});

it.each([
  [
    "the stream has another epoch",
    ({ state }: ReturnType<typeof openConsumer>) => void Object.assign(state, { epoch: "f", lastSeq: 20 }),
  ],
  [
    "more than 50,000 messages were missed",
    ({ state }: ReturnType<typeof openConsumer>) => void Object.assign(state, { pending: 50_001 }),
  ],
  [
    "the stream has removed the last delivery",
    ({ onConsumerAdd, deliver }: ReturnType<typeof openConsumer>) => onConsumerAdd(async () => deliver(8, 1)),
  ],
  [
    "a server has another message in the place of the last delivery",
    ({ onConsumerAdd, deliver }: ReturnType<typeof openConsumer>) =>
      onConsumerAdd(async () => deliver(7, 1, { headers: idOf(8) })),
  ],
])("starts at the end, and reports that messages may have been missed, if %s", async (_, act) => {
  const fixture = openConsumer();
  const { consumer, events, deliver, starts, state, onConsumerAdd } = fixture;
  await consumer.start();
  deliver(7, 1);
  act(fixture);
  consumer.restart();
  await vi.advanceTimersByTimeAsync(0);
  state.pending = 0;
  state.lastSeq = 20;
  onConsumerAdd(async () => undefined);
  await vi.advanceTimersByTimeAsync(300);
  deliver(21, 1);
  expect(events.slice(3)).toEqual(["stopped", "end 20", "resumed", "21"]);
  expect(starts.at(-1)).toBeUndefined();
  consumer.close();
});

it.each([
  [
    "a delivery whose consumer sequence is not the next",
    ({ deliver }: ReturnType<typeof openConsumer>) => deliver(9, 3),
  ],
  ["a delivery whose stream sequence is not the next", ({ deliver }: ReturnType<typeof openConsumer>) => deliver(9, 2)],
  [
    "a heartbeat with a higher consumer sequence",
    ({ control }: ReturnType<typeof openConsumer>) => control({ "Nats-Last-Consumer": "2" }),
  ],
  [
    "a message that is not a delivery",
    ({ subscriptions }: ReturnType<typeof openConsumer>) => subscriptions[0]?.deliver({ reply: "elsewhere" }),
  ],
  ["four seconds without a heartbeat", () => vi.advanceTimersByTimeAsync(4_100)],
])("creates a new consumer after %s, and ignores the old one", async (_, act) => {
  const fixture = openConsumer();
  await fixture.consumer.start();
  fixture.deliver(7, 1);
  await act(fixture);
  await vi.advanceTimersByTimeAsync(0);
  expect(fixture.subscriptions.map(({ isEnded }) => isEnded)).toEqual([true, false]);
  fixture.deliver(8, 2, { index: 0 });
  fixture.deliver(7, 1);
  fixture.deliver(8, 2);
  expect(fixture.events).toEqual(["end 6", "resumed", "7", "stopped", "8"]);
  fixture.consumer.close();
});

it("keeps a consumer that sends heartbeats, and responds to flow control requests", async () => {
  const { consumer, events, deliver, control, responses, subscriptions } = openConsumer();
  await consumer.start();
  deliver(7, 1);
  for (let second = 0; second < 20; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    control({ "Nats-Last-Consumer": "1" });
  }
  control({}, "$JS.FC.s.c.1");
  control({ "Nats-Last-Consumer": "1", "Nats-Consumer-Stalled": "$JS.FC.s.c.2" });
  expect(responses).toEqual(["$JS.FC.s.c.1", "$JS.FC.s.c.2"]);
  expect(subscriptions).toHaveLength(1);
  expect(events).toEqual(["end 6", "resumed", "7"]);
  consumer.close();
});

it("retries until the server accepts a new consumer, and stops retrying when it is closed", async () => {
  const { consumer, events, onConsumerAdd, subscriptions } = openConsumer();
  await consumer.start();
  let isUnreachable = true;
  onConsumerAdd(async () => {
    if (isUnreachable) throw new Error("unreachable");
  });
  consumer.restart();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(subscriptions.length).toBeGreaterThan(3);
  expect(events.filter((event) => event === "resumed")).toHaveLength(1);
  expect(subscriptions.every(({ isEnded }) => isEnded)).toBe(true);
  await expect(consumer.start()).rejects.toThrow("unreachable");
  isUnreachable = false;
  await vi.advanceTimersByTimeAsync(300);
  expect(events.at(-1)).toBe("resumed");
  const count = subscriptions.length;
  isUnreachable = true;
  consumer.restart();
  consumer.close();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(subscriptions.length).toBeLessThanOrEqual(count + 1);
  expect(subscriptions.every(({ isEnded }) => isEnded)).toBe(true);
});

it("starts again, and does not throw, when the subscription receives something that it cannot process", async () => {
  const { consumer, events, control, subscriptions } = openConsumer();
  await consumer.start();
  const headers = {
    get "Nats-Consumer-Stalled"(): string {
      throw new Error("malformed");
    },
  };
  expect(() => control(headers)).not.toThrow();
  await vi.waitFor(() => expect(subscriptions).toHaveLength(2), 30_000);
  expect(events).toEqual(["end 6", "resumed", "unexpected", "stopped", "end 6", "resumed"]);
  consumer.close();
});
