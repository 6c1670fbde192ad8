import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RPCError } from "../errors.ts";
import { createConcurrencyQueue } from "./concurrency-queue.ts";

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

describe("createConcurrencyQueue", () => {
  it("runs at most maxRunning tasks at once, and the rest in the order they were added", async () => {
    const enqueue = createConcurrencyQueue({ maxRunning: 2, maxQueued: 10 });
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
    const enqueue = createConcurrencyQueue({ maxRunning: 1, maxQueued: 1 });
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
    const enqueue = createConcurrencyQueue({ maxRunning: 1, maxQueued: 5 });
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
    const enqueue = createConcurrencyQueue({ maxRunning: 1, maxQueued: 5 });
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
    const enqueue = createConcurrencyQueue({ maxRunning: 1, maxQueued: 5 });
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
        const enqueue = createConcurrencyQueue({ maxRunning: running, maxQueued: waiting });
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
