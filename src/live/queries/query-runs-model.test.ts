/**
 * The runs of queries against a model: two processes on one bus, which receive its messages late, a database, and pages that
 * connect to the other process at any moment.
 */
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { createQueryProcess, failure, QueryPage, type QueryProcess } from "#test/query-processes";
import { recordedLog } from "#test/recorded-log";
import type { Bus } from "../../backends/index.ts";

const BOARDS = ["a", "b"] as const;
type Board = (typeof BOARDS)[number];

/** A bus whose messages reach this process late, in order. */
function lateBus(bus: FaultyBus, lagMs: () => number): Bus {
  let lastAtMs = 0;
  return {
    ...bus,
    position: (channels) => bus.position(channels),
    read: (channel, after, limit) => bus.read(channel, after, limit),
    watch: (channel, listener) =>
      bus.watch(channel, (entry) => {
        lastAtMs = Math.max(lastAtMs, performance.now() + lagMs());
        setTimeout(() => listener(entry), lastAtMs - performance.now());
      }),
  };
}

/** Rows, of which the first has the number of the state: it must never go back. */
const rowsOf = (state: number) =>
  Array.from({ length: 5 + (state % 3) }, (_, i) => ({ id: i, state: i === 0 ? state : 0, text: "text".repeat(10) }));
const stateOf = (value: unknown): number => (value as ReturnType<typeof rowsOf>)[0]?.state ?? -1;

class Model {
  readonly bus = createFaultyBus();
  readonly states: Record<Board, number> = { a: 0, b: 0 };
  readonly published: Promise<unknown>[] = [];
  /** The last state of which a message was published. */
  readonly confirmed: Record<Board, number> = { a: 0, b: 0 };
  readonly processes: QueryProcess[];
  readonly pages: QueryPage[] = [];
  readonly loading = new Set<QueryPage>();
  readonly running = new Map<string, number>();
  readonly counts = { runs: 0, changes: 0, connections: 0, failures: 0, reads: 0, gaps: 0 };
  isFailing = false;
  lagMs = 0;
  runMs = 0;
  /** Whether runs see the state of their begin, or that of their end. */
  seesEnd = false;

  constructor() {
    const log = recordedLog().log;
    this.processes = [0, 1].map((index) =>
      createQueryProcess(
        lateBus(this.bus, () => this.lagMs),
        { log, maxRuns: 2, run: (call) => this.#run(index, call.args[0] as Board) },
      ),
    );
  }

  async #run(process: number, board: Board) {
    const key = `${process} ${board}`;
    expect(this.running.get(key) ?? 0).toBe(0); // runs of one query never overlap
    this.running.set(key, 1);
    this.counts.runs++;
    const first = this.states[board];
    const { isFailing, seesEnd } = this;
    await new Promise((resolve) => setTimeout(resolve, this.runMs));
    this.running.set(key, 0);
    if (isFailing) this.counts.failures++;
    if (isFailing) return failure();
    return { kind: "value" as const, json: JSON.stringify(rowsOf(seesEnd ? this.states[board] : first)) };
  }

  /** Changes the database, and publishes it a while later, as many times as are needed. */
  write(board: Board, delayMs: number): void {
    const state = ++this.states[board];
    this.counts.changes++;
    const publish = async () => {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        try {
          await this.bus.publish(`board:${board}`, "null");
          this.confirmed[board] = Math.max(this.confirmed[board], state);
          return;
        } catch {}
      }
    };
    this.published.push(publish());
  }

  /** Loads a page from one process, which connects to another one a while later. */
  load(index: number, from: number, { to, delayMs }: { readonly to: number; readonly delayMs: number }): void {
    const source = this.processes[from];
    this.pages[index]?.disconnect();
    const page = this.addPage(index);
    if (!source) return;
    this.loading.add(page);
    this.counts.reads += BOARDS.length;
    const { definition } = source;
    const callOf = (name: Board) => ({ definition, args: [name], channels: [`board:${name}`], id: `id ${name}` });
    const readAll = Promise.all(BOARDS.map((name) => source.runs.read(callOf(name), null)));
    readAll.then(
      (values) => {
        this.loading.delete(page);
        for (const [i, { json, version }] of values.entries()) page.show(BOARDS[i] ?? "", JSON.parse(json), version);
        setTimeout(() => this.pages[index] === page && this.connect(index, to), delayMs);
      },
      () => this.loading.delete(page), // the page of an error, which has no value and connects later
    );
  }

  connect(index: number, process: number): void {
    const page = this.pages[index];
    const target = this.processes[process];
    if (!page || !target || this.loading.has(page)) return;
    this.counts.connections++;
    page.connect(target);
  }

  addPage(index: number): QueryPage {
    const page = new QueryPage(BOARDS);
    const last = new Map<string, number>();
    page.onValue = (board, value) => {
      expect(stateOf(value)).toBeGreaterThanOrEqual(last.get(board) ?? -1); // no value goes back
      last.set(board, stateOf(value));
    };
    this.pages[index] = page;
    return page;
  }

  close(): void {
    for (const page of this.pages) page.disconnect();
    for (const process of this.processes) process.close();
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const board = fc.constantFrom(...BOARDS);
const page = fc.nat(2);
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("write" as const), board, delayMs: fc.nat(40) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("connect" as const), page, process: fc.nat(1) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(200) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("timing" as const), lagMs: fc.nat(150), runMs: fc.nat(150) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sees" as const), end: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stall" as const), page, isReading: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), isFailing: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("bus" as const), isUnreachable: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), page }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("load" as const),
      page,
      from: fc.nat(1),
      to: fc.nat(1),
      delayMs: fc.nat(60),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("read" as const), board, process: fc.nat(1) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

async function execute(model: Model, step: Command): Promise<void> {
  switch (step.do) {
    case "write":
      return model.write(step.board, step.delayMs);
    case "connect":
      return model.connect(step.page, step.process);
    case "leave":
      return model.pages[step.page]?.disconnect();
    case "load":
      return model.load(step.page, step.from, step);
    case "wait":
      return void (await vi.advanceTimersByTimeAsync(step.ms));
    case "timing":
      model.lagMs = step.lagMs;
      model.runMs = step.runMs;
      return;
    case "sees":
      model.seesEnd = step.end;
      return;
    case "stall": {
      const stalled = model.pages[step.page];
      if (!stalled) return;
      stalled.isReading = step.isReading;
      return stalled.read();
    }
    case "fail":
      model.isFailing = step.isFailing;
      return;
    case "bus":
      model.bus.isUnreachable = step.isUnreachable;
      if (!step.isUnreachable) model.bus.notifyAll(); // as a bus does after a lost connection
      return;
    case "lose":
      model.counts.gaps++;
      return model.bus.loseHistory();
    case "read": {
      const { runs, definition } = model.processes[step.process] as QueryProcess;
      model.counts.reads++;
      const before = model.confirmed[step.board];
      const call = { definition, args: [step.board], channels: [`board:${step.board}`], id: `id ${step.board}` };
      runs.read(call, null).then(
        ({ json }) => expect(stateOf(JSON.parse(json))).toBeGreaterThanOrEqual(before),
        () => undefined,
      );
    }
  }
}

it("shows the last state of the database everywhere in the end, and never goes back, with few runs", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60, size: "max" }), async (steps) => {
      const model = new Model();
      for (let i = 0; i < 3; i++) model.addPage(i);
      model.connect(0, 0);
      for (const step of steps) await execute(model, step);
      // Everything works again. What was published is confirmed.
      model.isFailing = false;
      model.bus.isUnreachable = false;
      model.bus.notifyAll();
      for (const each of model.pages) {
        each.isReading = true;
        each.read();
      }
      await vi.advanceTimersByTimeAsync(5_000);
      for (const [i, each] of model.pages.entries()) if (!each.connection) model.connect(i, 0);
      await Promise.all(model.published);
      await vi.advanceTimersByTimeAsync(60_000);
      for (const each of model.pages) {
        for (const name of BOARDS) {
          expect(stateOf(each.values.get(name))).toBe(model.states[name]);
          expect(each.errors.get(name)).toBeNull();
        }
      }
      const { runs, changes, connections, failures, reads, gaps } = model.counts;
      const perProcess = changes + BOARDS.length * (connections + 2 * gaps) + reads + BOARDS.length;
      expect(runs).toBeLessThanOrEqual(2 * perProcess + failures);
      expect(model.processes.map(({ slots }) => slots.used)).toEqual([0, 0]);
      model.close();
    }),
    { numRuns: 200 },
  );
}, 120_000);
