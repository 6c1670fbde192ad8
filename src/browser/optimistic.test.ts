/**
 * What a page shows of a live query with optimistic changes, under random interleavings of calls, messages, failures and new
 * connections: a model of the server decides when it runs the query, and what each run has read.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TextRoot } from "#test/text-root";
import { RPCError } from "../errors.ts";
import { displays } from "./displays.ts";
import { landing } from "./landing.ts";
import { extras } from "./live-listeners.ts";
import { type Live, live } from "./live-value.ts";
import { optimistic } from "./optimistic.ts";

const restarts = vi.hoisted(() => ({ count: 0 }));
vi.mock("./live.ts", () => ({ restart: () => restarts.count++, watchPage: () => {} }));

interface Row {
  readonly id: string;
  readonly title: string;
}

/** A call of the page: made, then committed, then published, then settled. */
interface ModelCall {
  readonly title: string;
  stage: "made" | "committed" | "published" | "settled";
  outcome: "success" | "failed" | "lost" | undefined;
  position: string;
  settle: (outcome: Response | Error) => void;
}

/** A run of the query: what it has read, and when it began. */
interface Run {
  readonly position: string;
  readonly rows: readonly Row[];
}

const TAG = "AAAAAAAAAAA";
let queries = 0;

class Model {
  readonly id = `query-${queries++}`.padEnd(16, "-");
  readonly calls: ModelCall[] = [];
  readonly problems: string[] = [];
  #rows: readonly Row[] = [];
  #position = 1;
  #run: Run | undefined;
  #isDirty = false;
  /** The value that the page has, as far as the connection knows. */
  #base: { readonly rows: readonly Row[]; readonly version: string } | undefined;
  #versions = 0;
  readonly list: Live<readonly Row[]>;
  readonly #root = new TextRoot();
  /** Whether the page makes the ids of its rows. */
  readonly #hasClientKeys: boolean;

  constructor(hasClientKeys: boolean) {
    this.#hasClientKeys = hasClientKeys;
    restarts.count = 0;
    const handle = { query: "token", id: this.id, value: [] as readonly Row[], v: this.#versionOf(this.#position) };
    let list: Live<readonly Row[]> | undefined;
    this.#root.renderComponent(() => {
      list = live(handle);
      return list.value.map(({ title }) => title).join();
    });
    if (!list) throw new Error("not rendered");
    this.list = list;
    this.#base = { rows: [], version: handle.v };
  }

  /** Each value has a version of its own: the base in twelve characters, and the position of the channel. */
  #versionOf(position: string | number): string {
    return `${String(this.#versions++).padStart(12, "0")}.run_${TAG}=${String(position).padStart(6, "0")}`;
  }

  propose(): void {
    const title = `row${this.calls.length}`;
    const call: ModelCall = { title, stage: "made", outcome: undefined, position: "", settle: () => {} };
    this.calls.push(call);
    optimistic(
      this.list as Live<Row[]>,
      (rows) => rows.push({ id: this.#hasClientKeys ? title : `draft-${title}`, title }),
      () => {
        const { wait } = landing;
        const response = new Promise<Response | Error>((resolve) => {
          call.settle = resolve;
        });
        const result = response.then(async (outcome) => {
          if (outcome instanceof Error) throw outcome;
          await wait?.(outcome);
        });
        return Object.assign(result, { cancel() {} });
      },
    ).catch(() => {});
  }

  /** Moves a call to its next stage. */
  advance(index: number, isSilent: boolean): void {
    const open = this.calls.filter(({ stage }) => stage !== "settled");
    const call = open[index % open.length];
    if (!call) return;
    if (call.stage === "made") {
      this.#rows = [...this.#rows, { id: call.title, title: call.title }];
      call.stage = "committed";
    } else if (call.stage === "committed" && !isSilent) {
      call.position = this.#publish();
      call.stage = "published";
    } else {
      call.stage = "settled";
      call.outcome = "success";
      call.settle(new Response(null, call.position ? { headers: { "x-published": `${TAG}=${call.position}` } } : {}));
    }
  }

  /** Fails a call that has done nothing, or loses the response of one. */
  fail(index: number): void {
    const open = this.calls.filter(({ stage }) => stage !== "settled");
    const call = open[index % open.length];
    if (!call) return;
    call.outcome = call.stage === "made" ? "failed" : "lost";
    call.stage = "settled";
    const lost = Object.assign(new RPCError("internal", "unreachable"), { cause: new TypeError() });
    call.settle(call.outcome === "failed" ? new RPCError("conflict", "No.") : lost);
  }

  /** Another client adds a row. */
  addOther(): void {
    const title = `other${this.#position}`;
    this.#rows = [...this.#rows, { id: title, title }];
    this.#publish();
  }

  #publish(): string {
    this.#position++;
    this.#isDirty = true;
    return String(this.#position).padStart(6, "0");
  }

  /** Begins a run if messages have arrived, or sends what the run has read. */
  stepRun(isWhole: boolean): void {
    if (!this.#run) {
      if (!this.#isDirty) return;
      this.#isDirty = false;
      this.#run = { position: String(this.#position), rows: this.#rows };
      return;
    }
    const { position, rows } = this.#run;
    this.#run = undefined;
    const v = this.#versionOf(position);
    const base = this.#base;
    const isPrefix = base?.rows.every((row, index) => row === rows[index]);
    const content =
      base && isPrefix && !isWhole
        ? { v, base: base.version.slice(0, 12), patch: [[0, base.rows.length], ...rows.slice(base.rows.length)] }
        : { v, value: [...rows] };
    this.#base = { rows, version: v };
    extras.receive?.({ event: "query", channel: this.id, content });
  }

  /** The page connects again: also by itself, after it has requested that. */
  connect(): void {
    restarts.count = 0;
    this.#run = undefined;
    const versions = [...displays].filter(({ key }) => key === this.id).map(({ token }) => token.split("~")[1]);
    const isKnown = versions.every((version) => version && version === versions[0]);
    const isCurrent = isKnown && versions[0]?.endsWith(`=${String(this.#position).padStart(6, "0")}`);
    if (!isKnown) this.#base = undefined;
    this.#isDirty = !isCurrent;
  }

  /** Checks what the page shows after each step. */
  check(step: string): void {
    const titles = this.list.value.map(({ title }) => title);
    if (new Set(titles).size < titles.length) this.problems.push(`${step}: twice in ${titles}`);
    for (const { title, outcome } of this.calls) {
      const isShown = titles.includes(title);
      if (outcome === "failed" ? isShown : outcome !== "lost" && !isShown)
        this.problems.push(`${step}: ${title} in ${titles}`);
    }
  }

  /** The rows of the database. */
  get rows(): readonly Row[] {
    return this.#rows;
  }
}

const flush = () => vi.advanceTimersByTimeAsync(0);

type Action = {
  readonly type: "propose" | "advance" | "silent" | "fail" | "other" | "run" | "whole" | "cut" | "wait";
  readonly n: number;
};

const actionsOf = (...types: Action["type"][]) =>
  fc.array(fc.record({ type: fc.constantFrom(...types), n: fc.nat(5) }), { minLength: 10, maxLength: 60, size: "max" });

async function perform(actions: readonly Action[], hasClientKeys: boolean): Promise<void> {
  const model = new Model(hasClientKeys);
  const step = async (name: string, isConnecting: boolean, act: () => void) => {
    act();
    await flush();
    if (restarts.count && isConnecting) model.connect();
    await flush();
    model.check(name);
  };
  for (const { type, n } of actions) {
    if (type === "wait") await vi.advanceTimersByTimeAsync(2_100);
    // The events of the connection before go on until the page has sent the next request.
    await step(type, n % 2 === 0, () => {
      if (type === "propose") model.propose();
      if (type === "advance" || type === "silent") model.advance(n, type === "silent");
      if (type === "fail") model.fail(n);
      if (type === "other") model.addOther();
      if (type === "run" || type === "whole") model.stepRun(type === "whole");
      if (type === "cut") model.connect();
    });
  }
  for (const _ of model.calls) for (let n = 0; n < 3; n++) await step("end", true, () => model.advance(0, false));
  for (let n = 0; n < 6; n++) await step("end", true, () => model.stepRun(false));
  expect(model.problems).toEqual([]);
  expect(model.list.value).toEqual(model.rows);
  expect(model.list.pending).toEqual([]);
  displays.clear();
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("optimistic changes", () => {
  it("of an open call are shown once after two seconds, when the value of the server has the new object already", async () => {
    const model = new Model(true);
    model.propose();
    model.advance(0, false); // committed, but not published
    model.addOther();
    for (let n = 0; n < 2; n++) model.stepRun(false);
    await flush();
    expect(model.list.value.map(({ title }) => title)).toEqual(["row0"]);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(model.list.value.map(({ title }) => title)).toEqual(["row0"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(model.list.value.map(({ title }) => title)).toEqual(["row0", "other1"]);
    expect(model.list.pending).toMatchObject([{ state: "sent" }]);
    model.advance(0, false);
    model.advance(0, false);
    for (let n = 0; n < 2; n++) model.stepRun(false);
    await flush();
    expect(model.list.pending).toEqual([]);
    displays.clear();
  });

  it("of a call without messages are kept until the page has a value of a run that began after its request", async () => {
    const model = new Model(true);
    model.addOther();
    model.stepRun(true); // begins, and reads
    model.propose();
    for (let n = 0; n < 2; n++) model.advance(0, true);
    await flush();
    model.stepRun(true); // sends what it has read, before the next request
    expect(model.list.value.map(({ title }) => title)).toEqual(["row0"]);
    expect(restarts.count).toBeGreaterThan(0);
    model.connect();
    for (let n = 0; n < 2; n++) model.stepRun(true);
    expect(model.list.value.map(({ title }) => title)).toEqual(["other1", "row0"]);
    expect(model.list.pending).toEqual([]);
    displays.clear();
  });

  it("are never shown twice and never missing while calls take less than two seconds, whatever keys they have", async () => {
    const actions = actionsOf(
      "propose",
      "advance",
      "advance",
      "silent",
      "fail",
      "other",
      "run",
      "run",
      "whole",
      "whole",
      "cut",
    );
    await fc.assert(
      fc.asyncProperty(actions, (list) => perform(list, false)),
      { numRuns: 60 },
    );
  });

  it("are shown once in calls of any length if the page makes the keys", async () => {
    const actions = actionsOf(
      "propose",
      "advance",
      "advance",
      "silent",
      "other",
      "run",
      "run",
      "whole",
      "wait",
      "wait",
    );
    await fc.assert(
      fc.asyncProperty(actions, (list) => perform(list, true)),
      { numRuns: 60 },
    );
  });
});
