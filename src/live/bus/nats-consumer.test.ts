import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { JetStreamContext } from "./nats-connector.ts";
import { NatsConsumer } from "./nats-consumer.ts";

/** What the server delivers, in the client's form: as much of it as is looked at. */
interface Delivered {
  readonly subject?: string;
  readonly reply?: string;
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A tail, and a server that delivers to it by hand. */
function open() {
  const heard: string[] = [];
  const answers: string[] = [];
  const runs: { deliver(message: Delivered): void; isOver: boolean }[] = [];
  let onAdd: () => Promise<void> = async () => undefined;

  const subscribe = (_inbox: string, { callback }: { callback: (error: null, message: unknown) => void }) => {
    const run = {
      isOver: false,
      deliver({ subject = "s.live.a", reply, code, headers = {} }: Delivered) {
        if (run.isOver) return;
        const get = (name: string) => headers[name] ?? "";
        const respond = () => answers.push(String(reply));
        callback(null, { subject, reply, headers: { code, get }, string: () => '"text"', respond });
      },
    };
    runs.push(run);
    return {
      unsubscribe: () => {
        run.isOver = true;
      },
    };
  };
  const connection = { subscribe, publish: (subject: string) => answers.push(subject) };
  const manager = { consumers: { add: () => onAdd() } };
  const session = {
    connection,
    manager,
    epoch: "e",
    createInbox: () => "inbox",
    answer: <T>(asked: Promise<T>) => asked,
  };
  const tail = new NatsConsumer("s", {
    session: async () => session as unknown as JetStreamContext, // as much of it as is used
    lost: () => heard.push("lost"),
    back: () => heard.push("back"),
    message: ({ seq }) => heard.push(String(seq)),
  });
  const deliver = (seq: number, count: number, run = runs.length - 1) =>
    runs[run]?.deliver({ reply: `$JS.ACK.s.c.1.${seq}.${count}.1.0` });
  const signal = (headers: Record<string, string>, reply?: string) =>
    runs.at(-1)?.deliver({ code: 100, headers, ...(reply === undefined ? {} : { reply }) });
  return {
    ...{ tail, heard, answers, runs, deliver, signal },
    whenAdded: (action: () => Promise<void>) => {
      onAdd = action;
    },
  };
}

it("hears what is delivered, in order, from when it is ready", async () => {
  const { tail, heard, deliver, runs } = open();
  await Promise.all([tail.ready(), tail.ready()]);
  await tail.ready();
  deliver(7, 1);
  deliver(8, 2);
  expect(heard).toEqual(["lost", "back", "7", "8"]);
  expect(runs).toHaveLength(1);
  tail.close();
  deliver(9, 3);
  expect(heard).toHaveLength(4);
});

it("says that it lost the thread before anything is heard on the next one", async () => {
  const { tail, heard, deliver, whenAdded } = open();
  await tail.ready();
  deliver(7, 1);
  // What the server delivers may come before its answer that it will.
  whenAdded(async () => deliver(12, 1));
  tail.restart();
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual(["lost", "back", "7", "lost", "12", "back"]);
  tail.close();
});

it.each([
  ["a delivery that is not the next", ({ deliver }: ReturnType<typeof open>) => deliver(9, 3)],
  ["a delivery whose place is not the next", ({ deliver }: ReturnType<typeof open>) => deliver(9, 2)],
  ["a heartbeat that counts more", ({ signal }: ReturnType<typeof open>) => signal({ "Nats-Last-Consumer": "2" })],
  ["what is no delivery", ({ runs }: ReturnType<typeof open>) => runs[0]?.deliver({ reply: "elsewhere" })],
  ["silence", () => vi.advanceTimersByTimeAsync(4_100)],
])("begins anew after %s, and hears nothing on the old one", async (_, act) => {
  const bench = open();
  await bench.tail.ready();
  bench.deliver(7, 1);
  await act(bench);
  await vi.advanceTimersByTimeAsync(0);
  expect(bench.runs.map(({ isOver }) => isOver)).toEqual([true, false]);
  bench.deliver(8, 2, 0);
  bench.deliver(8, 1, 1);
  expect(bench.heard).toEqual(["lost", "back", "7", "lost", "back", "8"]);
  bench.tail.close();
});

it("stays with a server that says that it lives, and tells it that we keep up", async () => {
  const { tail, heard, deliver, signal, answers, runs } = open();
  await tail.ready();
  deliver(7, 1);
  for (let second = 0; second < 20; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    signal({ "Nats-Last-Consumer": "1" });
  }
  signal({}, "$JS.FC.s.c.1");
  signal({ "Nats-Last-Consumer": "1", "Nats-Consumer-Stalled": "$JS.FC.s.c.2" });
  expect(answers).toEqual(["$JS.FC.s.c.1", "$JS.FC.s.c.2"]);
  expect(runs).toHaveLength(1);
  expect(heard).toEqual(["lost", "back", "7"]);
  tail.close();
});

it("tries until the server delivers again, and not when it is closed", async () => {
  const { tail, heard, whenAdded, runs } = open();
  await tail.ready();
  let isAway = true;
  whenAdded(async () => {
    if (isAway) throw new Error("away");
  });
  tail.restart();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs.length).toBeGreaterThan(3);
  expect(heard.filter((each) => each === "back")).toHaveLength(1);
  expect(runs.every(({ isOver }) => isOver)).toBe(true);
  await expect(tail.ready()).rejects.toThrow("away");
  isAway = false;
  await vi.advanceTimersByTimeAsync(300);
  expect(heard.at(-1)).toBe("back");
  const count = runs.length;
  isAway = true;
  tail.restart();
  tail.close();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(runs.length).toBeLessThanOrEqual(count + 1);
  expect(runs.every(({ isOver }) => isOver)).toBe(true);
});
