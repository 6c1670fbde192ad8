import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RPCError } from "../errors.ts";
import { createLanes } from "./concurrency-queue.ts";

/** A piece of work that ends when it is told to. */
function piece(log: string[], name: string) {
  const { promise, resolve, reject } = deferred();
  const work = async () => {
    log.push(`${name} starts`);
    await promise;
    log.push(`${name} ends`);
    return name;
  };
  return { work, end: resolve, fail: reject };
}

function deferred() {
  let resolve = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Lets everything that can go on go on: each turn of the loop runs all promises that are settled. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("createLanes", () => {
  it("runs as many at once as it has lanes, and the rest in the order they came", async () => {
    const inTurn = createLanes({ running: 2, waiting: 10 });
    const log: string[] = [];
    const [a, b, c, d] = [piece(log, "a"), piece(log, "b"), piece(log, "c"), piece(log, "d")] as const;
    const all = Promise.all([a, b, c, d].map(({ work }) => inTurn(work)));
    await settle();
    expect(log).toEqual(["a starts", "b starts"]);
    b.end();
    await settle();
    expect(log.splice(0)).toEqual(["a starts", "b starts", "b ends", "c starts"]);
    for (const { end } of [a, c, d]) end();
    expect(await all).toEqual(["a", "b", "c", "d"]);
    expect(log).toContain("d ends");
  });

  it("refuses what finds the line full, and takes more once it has moved", async () => {
    const inTurn = createLanes({ running: 1, waiting: 1 });
    const log: string[] = [];
    const [a, b, c] = [piece(log, "a"), piece(log, "b"), piece(log, "c")] as const;
    const first = inTurn(a.work);
    const second = inTurn(b.work);
    const error = await inTurn(c.work).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "rate_limited" });
    expect(log).toEqual(["a starts"]);
    a.end();
    await first;
    const third = inTurn(c.work);
    b.end();
    c.end();
    expect(await Promise.all([second, third])).toEqual(["b", "c"]);
  });

  it("goes on after a piece that failed, at once or later, running or waiting", async () => {
    const inTurn = createLanes({ running: 1, waiting: 5 });
    const failed = await Promise.allSettled([
      inTurn(() => Promise.reject(new Error("later"))),
      inTurn(() => {
        throw new Error("at once");
      }),
      inTurn(async () => "fine"),
      inTurn(() => Promise.reject(new Error("again"))),
    ]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "rejected"]);
    expect(await inTurn(async () => "free")).toBe("free");
  });

  it("does not let a newcomer past those who wait, nor onto a lane that is handed over", async () => {
    const inTurn = createLanes({ running: 1, waiting: 5 });
    const log: string[] = [];
    let late: Promise<unknown> = Promise.resolve();
    const first = inTurn(async () => {
      log.push("first");
    });
    const second = inTurn(async () => {
      log.push("second");
    });
    first.then(() => {
      late = inTurn(async () => {
        log.push("late");
      });
    });
    await Promise.all([first, second]);
    await settle();
    await late;
    expect(log).toEqual(["first", "second", "late"]);
  });

  it("counts a lane that was handed over as taken", async () => {
    const inTurn = createLanes({ running: 1, waiting: 5 });
    const log: string[] = [];
    const [a, b, c] = [piece(log, "a"), piece(log, "b"), piece(log, "c")] as const;
    const both = [inTurn(a.work), inTurn(b.work)];
    a.end();
    await settle();
    expect(log.splice(0)).toEqual(["a starts", "a ends", "b starts"]);
    const newcomer = inTurn(c.work);
    await settle();
    expect(log).toEqual([]);
    b.end();
    c.end();
    await Promise.all([...both, newcomer]);
    expect(log).toEqual(["b ends", "c starts", "c ends"]);
  });

  it("never runs more at once than it may, and runs or refuses every piece", async () => {
    const lanes = fc.record({ running: fc.integer({ min: 1, max: 4 }), waiting: fc.integer({ min: 0, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(lanes, fc.array(fc.boolean(), { maxLength: 30 }), async ({ running, waiting }, fates) => {
        const inTurn = createLanes({ running, waiting });
        let busy = 0;
        let most = 0;
        const ends = await Promise.allSettled(
          fates.map((fate) =>
            inTurn(async () => {
              most = Math.max(most, ++busy);
              await settle();
              busy--;
              if (!fate) throw new Error("as it was meant to");
            }),
          ),
        );
        const refusals = ends.filter((end) => end.status === "rejected" && end.reason instanceof RPCError);
        expect(most).toBe(Math.min(running, fates.length));
        expect(refusals).toHaveLength(Math.max(0, fates.length - running - waiting));
      }),
      { numRuns: 50 },
    );
  });
});
