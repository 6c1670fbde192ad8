import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { createQueryProcess, failure, QueryPage, type QueryProcess, sessionOf } from "#test/query-processes";
import { recordedLog } from "#test/recorded-log";
import { UnavailableError } from "../../http/index.ts";
import type { QueryCall } from "./definition.ts";
import type { RunOutcome } from "./query-run.ts";

let bus: FaultyBus;
let process: QueryProcess;
/** The runs so far, each with what ends it. */
let runs: { board: string; sid: string | null | undefined; end: (outcome: RunOutcome) => void }[];
const pages: QueryPage[] = [];

const value = (json: unknown): RunOutcome => ({ kind: "value", json: JSON.stringify(json) });
const wait = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
const publish = (board = "1") => bus.publish(`board:${board}`, "null");
const callOf = (board: string): QueryCall => ({
  ...{ definition: process.definition, args: [board], channels: [`board:${board}`], id: `id ${board}` },
});

function start(options: Partial<Parameters<typeof createQueryProcess>[1]> = {}): void {
  process = createQueryProcess(bus, {
    log: recordedLog().log,
    run: (call, session) =>
      new Promise((end) => {
        runs.push({
          board: String(call.args[0]),
          sid: session === undefined ? undefined : (session?.sid ?? null),
          end,
        });
      }),
    ...options,
  });
}

/** Opens a page whose value is that of a first run. */
async function openPage(board = "1", session: Parameters<typeof sessionOf>[0] | null = null): Promise<QueryPage> {
  const page = new QueryPage([board], session === null ? null : sessionOf(session));
  pages.push(page);
  page.connect(process);
  await wait(100);
  return page;
}

async function end(outcome: RunOutcome, index = -1): Promise<void> {
  runs.at(index)?.end(outcome);
  await wait();
}

beforeEach(() => {
  vi.useFakeTimers();
  bus = createFaultyBus();
  runs = [];
  start();
});
afterEach(() => {
  for (const page of pages.splice(0)) page.disconnect();
  process.close();
  vi.useRealTimers();
});

describe("the runs of a query", () => {
  it("never overlap: all changes during a run cause one more", async () => {
    const page = await openPage();
    expect(runs).toHaveLength(1);
    for (let i = 0; i < 5; i++) {
      await publish();
      await wait(100);
    }
    expect(runs).toHaveLength(1);
    await end(value("first"));
    await wait(100);
    expect(runs).toHaveLength(2);
    await end(value("second"));
    await wait(5_000);
    expect(runs).toHaveLength(2);
    expect(page.values.get("1")).toBe("second");
  });

  it("are shared by all pages that are open, and by those that are loaded during a run", async () => {
    const [page, other] = await Promise.all([openPage(), openPage()]);
    const readings = [1, 2].map(() => process.runs.read(callOf("1"), null));
    await wait();
    expect(runs).toHaveLength(1);
    await end(value("shared"));
    expect([page, other].map(({ values }) => values.get("1"))).toEqual(["shared", "shared"]);
    expect(runs).toHaveLength(2);
    await end(value("read"));
    expect((await Promise.all(readings)).map(({ json }) => json)).toEqual(['"read"', '"read"']);
    expect([page, other].map(({ values }) => values.get("1"))).toEqual(["read", "read"]);
    expect(runs).toHaveLength(2);
  });

  it("begin for each page that is loaded, and pages that are open get what it finds without a message, if it is new", async () => {
    const page = await openPage();
    await end(value("first"));
    for (const json of ["first", "first", "changed", "changed"]) {
      const reading = process.runs.read(callOf("1"), null);
      await wait();
      await end(value(json));
      expect((await reading).json).toBe(JSON.stringify(json));
    }
    expect(runs).toHaveLength(5);
    expect(page.frames.map(({ value }) => value)).toEqual(["first", "changed"]);
  });

  it("give the page that is loaded a version with which a page keeps its value", async () => {
    const page = await openPage();
    await end(value("first"));
    const reading = process.runs.read(callOf("1"), null);
    await wait();
    await end(value("first"));
    expect((await reading).version).toBe(page.versions.get("1"));
  });

  it("begin for a page after a message that this process has not received yet", async () => {
    await openPage();
    await end(value("before"));
    bus.suppressesNotifications = true;
    await publish();
    const reading = process.runs.read(callOf("1"), null);
    await wait();
    expect(runs).toHaveLength(2);
    await end(value("after"));
    expect((await reading).json).toBe('"after"');
  });

  it("begin at most every 50 ms for pages that are open, and at once after that", async () => {
    await openPage();
    await end(value(0));
    for (let ms = 0; ms < 1_000; ms += 5) {
      await publish();
      await wait(5);
      if (runs.length > 1) await end(value(ms));
    }
    expect(runs.length).toBeGreaterThan(15);
    expect(runs.length).toBeLessThanOrEqual(22);
    await wait(1_000);
    const count = runs.length;
    await publish();
    await wait(1);
    expect(runs).toHaveLength(count + 1);
  });

  it("are as many at once as the process allows, in turns of the queries", async () => {
    process.close();
    start({ maxRuns: 2 });
    for (const board of ["1", "2", "3", "4"]) await openPage(board);
    expect(runs.map(({ board }) => board)).toEqual(["1", "2"]);
    await end(value("a"), 0);
    expect(runs.map(({ board }) => board)).toEqual(["1", "2", "3"]);
    await end(value("b"), 1);
    expect(runs.map(({ board }) => board)).toEqual(["1", "2", "3", "4"]);
    expect(process.slots.used).toBe(2);
  });

  it("do not begin for clients that have disconnected meanwhile, and delay no other", async () => {
    process.close();
    start({ maxRuns: 1 });
    void openPage("slow");
    await wait();
    const abort = new AbortController();
    const disconnected = Array.from({ length: 2_000 }, (_, i) => process.runs.read(callOf(`${i}`), null, abort.signal));
    const failures = Promise.allSettled(disconnected);
    const shared = [process.runs.read(callOf("0"), null), process.runs.read(callOf("last"), null)];
    await wait();
    abort.abort();
    await end(value("slow"));
    await end(value("shared"));
    expect(runs.map(({ board }) => board)).toEqual(["slow", "0", "last"]);
    await end(value("last"));
    expect((await Promise.all(shared)).map(({ json }) => json)).toEqual(['"shared"', '"last"']);
    expect((await failures).map((failed) => Reflect.get(failed, "reason"))).toEqual(
      Array(2_000).fill(abort.signal.reason),
    );
    expect(process.slots.used).toBe(0);
    const later = process.runs.read(callOf("5"), null);
    await wait();
    await end(value("later"));
    expect((await later).json).toBe('"later"');
  });

  it("begin anew after a gap of a channel, without a reload", async () => {
    const page = await openPage();
    await end(value("before"));
    bus.loseHistory();
    await wait(100);
    expect(runs).toHaveLength(2);
    await end(value("after"));
    expect(page.values.get("1")).toBe("after");
  });

  it("wait until the function of the run before has ended, for up to 60 s after its time limit", async () => {
    const page = await openPage();
    let finish: () => void = () => undefined;
    const unfinished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await end({ ...failure("timeout"), unfinished } as RunOutcome);
    expect(page.errors.get("1")).toBe("timeout");
    await publish();
    await wait(59_000);
    expect(runs).toHaveLength(1);
    await wait(2_000);
    expect(runs).toHaveLength(2);
    await end({ ...failure("timeout"), unfinished } as RunOutcome);
    finish();
    await wait(2_000);
    expect(runs).toHaveLength(3);
  });

  it("end with the pages: 30 s later, the process neither has the value nor watches the channels", async () => {
    const page = await openPage();
    await end(value("a value"));
    page.disconnect();
    await wait(29_000);
    expect([process.runs.size, process.cache.bytes > 0]).toEqual([1, true]);
    await wait(20_000);
    expect([process.runs.size, process.cache.bytes]).toEqual([0, 0]);
    await wait(20_000); // the hub keeps subscriptions for a while
    expect(bus.listenerCounts.get("board:1")).toBeUndefined();
  });

  it("do not make the process watch the channels of pages that are only loaded", async () => {
    const reading = process.runs.read(callOf("1"), null);
    await wait();
    await end(value("a value"));
    await reading;
    expect(bus.listenerCounts.size).toBe(0);
  });
});

describe("a run that fails", () => {
  it("keeps the value, and is repeated after 1 s, then after twice as long each time, at most after 30 s", async () => {
    const page = await openPage();
    await end(value("last"));
    await publish();
    await wait(100);
    const delays: number[] = [];
    for (let i = 0; i < 8; i++) {
      await end(failure());
      expect([page.values.get("1"), page.errors.get("1")]).toEqual(["last", "internal"]);
      const [count, failedAtMs] = [runs.length, performance.now()];
      while (runs.length === count) await wait(50);
      delays.push(performance.now() - failedAtMs);
    }
    for (const [i, delay] of delays.entries()) {
      const boundMs = Math.min(30_000, 1_000 * 2 ** i);
      expect(delay).toBeGreaterThanOrEqual(boundMs / 2);
      expect(delay).toBeLessThanOrEqual(boundMs + 100);
    }
    await end(value("last"));
    expect([page.values.get("1"), page.errors.get("1")]).toEqual(["last", null]);
    await wait(60_000);
    expect(runs).toHaveLength(10);
  });

  it("is repeated at once when a channel has changed", async () => {
    await openPage();
    for (let i = 0; i < 6; i++) await end(failure());
    const count = runs.length;
    await wait(100);
    await publish();
    await wait(60);
    expect(runs).toHaveLength(count + 1);
  });

  it("is not repeated for each page that connects: these learn of it", async () => {
    await openPage();
    await end(failure());
    const others = [await openPage(), await openPage(), await openPage()];
    expect(runs).toHaveLength(1);
    expect(others.map(({ errors }) => errors.get("1"))).toEqual(["internal", "internal", "internal"]);
  });

  it("is repeated for each page that is loaded, which gets what was thrown", async () => {
    await openPage();
    await end(failure());
    const reading = process.runs.read(callOf("1"), null).catch(String);
    await wait();
    expect(runs).toHaveLength(2);
    await end(failure("conflict", "The board is closed."));
    expect(await reading).toBe("The board is closed.");
  });

  it("is not repeated if nobody receives the value", async () => {
    const reading = process.runs.read(callOf("1"), null).catch(String);
    await wait();
    await end(failure());
    await reading;
    await wait(25_000);
    expect(runs).toHaveLength(1);
  });
});

describe("while the bus is unreachable, a query", () => {
  it("does not run for pages that are loaded: these fail with 503", async () => {
    bus.isUnreachable = true;
    await expect(process.runs.read(callOf("1"), null)).rejects.toThrow(UnavailableError);
    bus.isUnreachable = false;
    bus.isHanging = true;
    const reading = process.runs.read(callOf("1"), null).catch((error: unknown) => error);
    await wait(2_000);
    expect(await reading).toBeInstanceOf(UnavailableError);
    expect([runs.length, process.slots.used]).toEqual([0, 0]);
    bus.isHanging = false;
  });

  it("keeps the values of pages, and runs when the bus is reachable again", async () => {
    const page = await openPage();
    await end(value("before"));
    bus.isUnreachable = true;
    const other = await openPage("2");
    page.connect(process);
    await wait(5_000);
    expect([page.values.get("1"), runs.length]).toEqual(["before", 1]);
    bus.isUnreachable = false;
    await wait(2_100);
    await end(value("two"));
    expect(other.values.get("2")).toBe("two");
  });
});

describe("a query that reads the session", () => {
  it("runs for each sign-in from then on, and what it had read is sent to nobody", async () => {
    const [alice, bob, nobody] = [await openPage("1", "alice"), await openPage("1", "bob"), await openPage("1")];
    const reading = process.runs.read(callOf("1"), sessionOf("alice"));
    await wait();
    await end({ kind: "session" });
    await wait(100);
    expect(runs.slice(1).map(({ sid }) => sid)).toEqual(["sid of alice", "sid of bob", null]);
    expect([alice, bob, nobody].map(({ frames }) => frames.length)).toEqual([0, 0, 0]);
    for (const run of runs.slice(1)) run.end(value(`for ${run.sid}`));
    await wait();
    await end(value("for alice, who loads another page"));
    expect([alice, bob, nobody].map(({ values }) => values.get("1"))).toEqual([
      ...["for alice, who loads another page", "for sid of bob", "for null"],
    ]);
    expect((await reading).json).toBe('"for alice, who loads another page"');
  });

  it("does so also when it reads the session for the first time after many shared runs", async () => {
    const [alice, bob] = await Promise.all([openPage("1", "alice"), openPage("1", "bob")]);
    await end(value("shared"));
    await publish();
    await wait(100);
    await end({ kind: "session" });
    await wait(100);
    expect(runs.slice(2).map(({ sid }) => sid)).toEqual(["sid of alice", "sid of bob"]);
    runs[2]?.end(value("for alice"));
    await wait();
    expect([alice.values.get("1"), bob.values.get("1")]).toEqual(["for alice", "shared"]);
    alice.connect(process);
    bob.connect(process);
    const carol = await openPage("1", "carol");
    expect(runs[4]?.sid).toBe("sid of carol");
    expect([alice.values.get("1"), bob.values.get("1"), carol.values.get("1")]).toEqual([
      ...["for alice", "shared", undefined],
    ]);
  });

  it("shares the runs of one sign-in", async () => {
    await openPage("1", "alice");
    await openPage("1", "alice");
    await end({ kind: "session" });
    await wait(100);
    expect(runs).toHaveLength(2);
    await end(value("for alice"));
    await publish();
    await wait(100);
    expect(runs).toHaveLength(3);
  });
});
