import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { RPCError } from "../errors.ts";
import { type ConcurrencyQueueOptions, createConcurrencyQueue } from "./concurrency-queue.ts";

/** Returns a task that ends when the test calls `end` or `fail`. */
function controlledTask(log: string[], name: string) {
  const { promise, resolve, reject } = deferred();
  const task = async () => {
    log.push(`${name} starts`);
    await promise;
    log.push(`${name} ends`);
    return name;
  };
  return { task, end: resolve, fail: reject };
}

function deferred() {
  let resolve = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** Waits until all promises that can settle have settled. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Returns a queue whose tasks all belong to one client, which may use all of it. */
function queueForOneClient(limits: { maxRunning: number; maxQueued: number }) {
  const enqueue = createConcurrencyQueue({ ...limits, maxQueuedPerClient: limits.maxQueued });
  return <T>(task: () => Promise<T>) => enqueue("a", task);
}

/** A queue whose tasks run until the test ends them. `log` names the tasks in the order of their start. */
function pausedQueue(limits: ConcurrencyQueueOptions) {
  const enqueue = createConcurrencyQueue(limits);
  const log: string[] = [];
  const running: (() => void)[] = [];
  const results = new Map<string, unknown>();
  let count = 0;
  return {
    log,
    results,
    /** Adds a task of a client, named like `a1`. */
    add(client: string | null, key = client) {
      const name = `${client}${++count}`;
      enqueue(key, () => {
        log.push(name);
        return new Promise<void>((resolve) => running.push(resolve));
      }).then(
        () => results.set(name, "ended"),
        (error: unknown) => results.set(name, error),
      );
      return name;
    },
    /** Ends the task that has run for the longest time. Returns whether there was one. */
    async endOne() {
      const end = running.shift();
      end?.();
      await settle();
      return end !== undefined;
    },
    /** The number of tasks that run. */
    get busy() {
      return running.length;
    },
  };
}

describe("createConcurrencyQueue", () => {
  it("runs at most maxRunning tasks at once, and the rest in the order they were added", async () => {
    const enqueue = queueForOneClient({ maxRunning: 2, maxQueued: 10 });
    const log: string[] = [];
    const [a, b, c, d] = [
      controlledTask(log, "a"),
      controlledTask(log, "b"),
      controlledTask(log, "c"),
      controlledTask(log, "d"),
    ] as const;
    const all = Promise.all([a, b, c, d].map(({ task }) => enqueue(task)));
    await settle();
    expect(log).toEqual(["a starts", "b starts"]);
    b.end();
    await settle();
    expect(log.splice(0)).toEqual(["a starts", "b starts", "b ends", "c starts"]);
    for (const { end } of [a, c, d]) end();
    expect(await all).toEqual(["a", "b", "c", "d"]);
    expect(log).toContain("d ends");
  });

  it("rejects a task with rate_limited if the queue is full, and accepts more once it has moved", async () => {
    const enqueue = queueForOneClient({ maxRunning: 1, maxQueued: 1 });
    const log: string[] = [];
    const [a, b, c] = [controlledTask(log, "a"), controlledTask(log, "b"), controlledTask(log, "c")] as const;
    const first = enqueue(a.task);
    const second = enqueue(b.task);
    const error = await enqueue(c.task).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "rate_limited" });
    expect(log).toEqual(["a starts"]);
    a.end();
    await first;
    const third = enqueue(c.task);
    b.end();
    c.end();
    expect(await Promise.all([second, third])).toEqual(["b", "c"]);
  });

  it("continues after a task that failed, synchronously or later, running or queued", async () => {
    const enqueue = queueForOneClient({ maxRunning: 1, maxQueued: 5 });
    const failed = await Promise.allSettled([
      enqueue(() => Promise.reject(new Error("later"))),
      enqueue(() => {
        throw new Error("synchronously");
      }),
      enqueue(async () => "fine"),
      enqueue(() => Promise.reject(new Error("again"))),
    ]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "rejected"]);
    expect(await enqueue(async () => "free")).toBe("free");
  });

  it("does not let a new task get ahead of queued ones", async () => {
    const enqueue = queueForOneClient({ maxRunning: 1, maxQueued: 5 });
    const log: string[] = [];
    let late: Promise<unknown> = Promise.resolve();
    const first = enqueue(async () => {
      log.push("first");
    });
    const second = enqueue(async () => {
      log.push("second");
    });
    first.then(() => {
      late = enqueue(async () => {
        log.push("late");
      });
    });
    await Promise.all([first, second]);
    await settle();
    await late;
    expect(log).toEqual(["first", "second", "late"]);
  });

  it("counts a slot that was passed to the next task as taken", async () => {
    const enqueue = queueForOneClient({ maxRunning: 1, maxQueued: 5 });
    const log: string[] = [];
    const [a, b, c] = [controlledTask(log, "a"), controlledTask(log, "b"), controlledTask(log, "c")] as const;
    const both = [enqueue(a.task), enqueue(b.task)];
    a.end();
    await settle();
    expect(log.splice(0)).toEqual(["a starts", "a ends", "b starts"]);
    const added = enqueue(c.task);
    await settle();
    expect(log).toEqual([]);
    b.end();
    c.end();
    await Promise.all([...both, added]);
    expect(log).toEqual(["b ends", "c starts", "c ends"]);
  });

  it("never runs more tasks than allowed, and runs or rejects every task", async () => {
    const limits = fc.record({ running: fc.integer({ min: 1, max: 4 }), waiting: fc.integer({ min: 0, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(fc.boolean(), { maxLength: 30 }), async ({ running, waiting }, outcomes) => {
        const enqueue = queueForOneClient({ maxRunning: running, maxQueued: waiting });
        let busy = 0;
        let maxBusy = 0;
        const results = await Promise.allSettled(
          outcomes.map((succeeds) =>
            enqueue(async () => {
              maxBusy = Math.max(maxBusy, ++busy);
              await settle();
              busy--;
              if (!succeeds) throw new Error("expected");
            }),
          ),
        );
        const rejected = results.filter((result) => result.status === "rejected" && result.reason instanceof RPCError);
        expect(maxBusy).toBe(Math.min(running, outcomes.length));
        expect(rejected).toHaveLength(Math.max(0, outcomes.length - running - waiting));
      }),
      { numRuns: 50 },
    );
  });
});

describe("the clients of a concurrency queue", () => {
  it("take turns: a client that comes late waits for one task of each other client", async () => {
    const queue = pausedQueue({ maxRunning: 1, maxQueued: 20, maxQueuedPerClient: 5 });
    for (const client of ["a", "a", "a", "a", "b", "b", "c", null]) queue.add(client);
    while (await queue.endOne());
    expect(queue.log).toEqual(["a1", "a2", "b5", "c7", "null8", "a3", "b6", "a4"]);
  });

  it("have a limit each: one task more than it is rejected, and a task of another client is not", async () => {
    const queue = pausedQueue({ maxRunning: 2, maxQueued: 20, maxQueuedPerClient: 3 });
    const own = Array.from({ length: 2 + 3 + 1 }, () => queue.add("a"));
    const other = queue.add("b");
    await settle();
    const rejected = queue.results.get(own[5] ?? "");
    expect(rejected).toBeInstanceOf(RPCError);
    expect(rejected).toMatchObject({ code: "rate_limited", details: { retry_after: 1 } });
    expect(String(rejected)).toBe("Too many requests of this client are waiting. Try again in 1 second.");
    while (await queue.endOne());
    expect([...queue.results].filter(([, result]) => result === "ended").map(([name]) => name)).toEqual(
      expect.arrayContaining([...own.slice(0, 5), other]),
    );
  });

  it("have a place in a full queue, which the client with the most tasks gives up", async () => {
    const queue = pausedQueue({ maxRunning: 1, maxQueued: 6, maxQueuedPerClient: 4 });
    for (const client of ["a", "a", "a", "a", "a", "b", "b"]) queue.add(client);
    const late = queue.add("c");
    await settle();
    expect(queue.results.get("a5")).toMatchObject({ code: "rate_limited", message: expect.stringMatching(/is busy/) });
    expect([...queue.results.keys()]).toEqual(["a5"]);
    // Now a has 3, b has 2, c has 1. A second place of c would leave a with as many; a third one with fewer.
    queue.add("c");
    await settle();
    expect([...queue.results.keys()]).toEqual(["a5", "a4"]);
    const tooMany = queue.add("c");
    await settle();
    expect([...queue.results.keys()]).toEqual(["a5", "a4", tooMany]);
    while (await queue.endOne());
    expect(queue.log).toEqual(["a1", "a2", "b6", late, "a3", "b7", "c9"]);
  });

  it.each([
    ["an IPv4 address", "192.0.2.1"],
    ["another /48 network", "2001:db8:2:0::/64"],
    ["work outside of requests", null],
  ])("of one IPv6 /48 network count together in a full queue: %s gets its places [SIGNIN-5]", async (_, key) => {
    const queue = pausedQueue({ maxRunning: 2, maxQueued: 32, maxQueuedPerClient: 8 });
    const burst = Array.from({ length: 36 }, (_, n) => queue.add("a", `2001:db8:1:${n.toString(16)}::/64`));
    const others = Array.from({ length: 8 }, () => queue.add("b", key));
    await settle();
    // Two of the burst did not get a place, and eight gave up theirs, the newest first.
    expect([...queue.results.keys()]).toEqual([...burst.slice(34), ...burst.slice(26, 34).reverse()]);
    while (await queue.endOne());
    expect(queue.log).toEqual(expect.arrayContaining(others));
  });

  it("estimate the wait from the duration of earlier tasks and the number of clients that wait", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    const queue = pausedQueue({ maxRunning: 2, maxQueued: 20, maxQueuedPerClient: 1 });
    queue.add("a");
    await settle();
    now.mockReturnValue(3_000);
    await queue.endOne();
    for (const client of ["a", "a", "a", "b", "c"]) queue.add(client);
    const rejected = queue.add("a");
    await settle();
    // Three clients wait, two tasks run at once, and a task takes 3 s.
    expect(queue.results.get(rejected)).toMatchObject({ details: { retry_after: 5 } });
    now.mockRestore();
  });

  it("never wait for more than their share, in any order of arrivals and ends [SIGNIN-7]", async () => {
    const limits = fc.record({
      maxRunning: fc.integer({ min: 1, max: 3 }),
      maxQueued: fc.integer({ min: 1, max: 8 }),
      maxQueuedPerClient: fc.integer({ min: 1, max: 4 }),
    });
    const step = fc.oneof(fc.constantFrom("a", "a", "a", "b", "c", "x", "y", "z", null), fc.constant("end" as const));
    const networks = new Map(["x", "y", "z"].map((client, n) => [client, `2001:db8:1:${n}::/64`]));
    const group = (client: string | null) => (networks.has(client ?? "") ? "2001:db8:1::/48" : client);
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (limits, steps) => {
        const queue = pausedQueue(limits);
        /** The tasks that wait, with the starts that each client may still have before this one. */
        let waiting: { name: string; client: string | null; turns: Map<string | null, number>; own: number }[] = [];
        let seen = 0;
        const check = () => {
          const rejected = waiting.filter(({ name }) => queue.results.get(name) instanceof RPCError);
          waiting = waiting.filter((task) => !rejected.includes(task));
          for (; seen < queue.log.length; seen++) {
            const started = queue.log[seen] ?? "";
            const client = started.startsWith("null") ? null : (started[0] ?? "");
            const own = waiting.find((task) => task.client === client);
            expect(own === undefined || own.name === started, "tasks of one client keep their order").toBe(true);
            waiting = waiting.filter(({ name }) => name !== started);
            for (const task of waiting) {
              const turns = (task.turns.get(client) ?? 0) + 1;
              task.turns.set(client, turns);
              if (task.client !== client) expect(turns, `turns of ${client}`).toBeLessThanOrEqual(task.own + 1);
            }
          }
          expect(queue.busy).toBeLessThanOrEqual(limits.maxRunning);
          if (waiting.length > 0) expect(queue.busy, "no slot is free while tasks wait").toBe(limits.maxRunning);
          expect(waiting.length).toBeLessThanOrEqual(limits.maxQueued);
          for (const { client } of waiting) {
            const own = waiting.filter((task) => task.client === client);
            expect(own.length, `tasks of ${client}`).toBeLessThanOrEqual(limits.maxQueuedPerClient);
          }
          return rejected;
        };
        for (const client of steps) {
          if (client === "end") {
            await queue.endOne();
            expect(check()).toEqual([]);
            continue;
          }
          const own = waiting.filter((task) => task.client === client).length;
          const counts = new Map<string | null, number>();
          for (const task of waiting) counts.set(task.client, (counts.get(task.client) ?? 0) + 1);
          const sizes = new Map<string | null, number>();
          for (const task of waiting) sizes.set(group(task.client), (sizes.get(group(task.client)) ?? 0) + 1);
          const ownSize = sizes.get(group(client)) ?? 0;
          const largest = Math.max(...sizes.values());
          const longestOfGroup = Math.max(
            0,
            ...[...counts].filter(([c]) => group(c) === group(client)).map(([, n]) => n),
          );
          const isFull = waiting.length === limits.maxQueued;
          waiting.push({
            name: queue.add(client, networks.get(client ?? "") ?? client),
            client,
            turns: new Map(),
            own,
          });
          await settle();
          const rejected = check();
          if (rejected.length === 0) continue;
          expect(rejected).toHaveLength(1);
          if (rejected[0]?.client !== client) {
            expect(isFull).toBe(true);
            const loser = rejected[0]?.client ?? null;
            if (group(loser) === group(client)) expect(counts.get(loser)).toBeGreaterThan(own + 1);
            else {
              expect(sizes.get(group(loser))).toBe(largest);
              expect(largest).toBeGreaterThan(ownSize + 1);
            }
          } else if (own < limits.maxQueuedPerClient) {
            const isFair = largest <= ownSize + 1 && longestOfGroup <= own + 1;
            expect(isFull && isFair, "rejected only if all have a fair share").toBe(true);
          }
        }
        while (await queue.endOne()) check();
        expect(waiting).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
