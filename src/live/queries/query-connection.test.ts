import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFaultyBus, type FaultyBus } from "#test/faulty-bus";
import { createQueryProcess, QueryPage, type QueryProcess, sessionOf } from "#test/query-processes";
import { recordedLog } from "#test/recorded-log";
import { sessionTag } from "../../session/index.ts";
import { MAX_PLACES_PER_CLIENT } from "../page-places.ts";

let bus: FaultyBus;
let process: QueryProcess;
let state: unknown;
const pages: QueryPage[] = [];
const wait = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
const rows = (...states: readonly number[]) => states.map((each, id) => ({ id, state: each, text: "text".repeat(20) }));

function start(options: Partial<Parameters<typeof createQueryProcess>[1]> = {}): void {
  process = createQueryProcess(bus, {
    log: recordedLog().log,
    run: async () => ({ kind: "value", json: JSON.stringify(state) }),
    ...options,
  });
}

async function change(to: unknown, board = "1"): Promise<void> {
  state = to;
  await bus.publish(`board:${board}`, "null");
  await wait(100);
}

async function openPage(
  boards: readonly string[] = ["1"],
  { user, ...options }: { user?: string } & Parameters<QueryPage["connect"]>[1] = {},
): Promise<QueryPage> {
  const page = new QueryPage(boards, user === undefined ? null : sessionOf(user));
  pages.push(page);
  page.connect(process, options);
  await wait(100);
  return page;
}

beforeEach(() => {
  vi.useFakeTimers();
  bus = createFaultyBus();
  state = rows(0, 0, 0);
  start();
});
afterEach(() => {
  for (const page of pages.splice(0)) page.disconnect();
  process.close();
  vi.useRealTimers();
});

describe("a page that reads slowly", () => {
  it("gets the newest value only, and patches again from then on", async () => {
    const page = await openPage();
    page.isReading = false;
    for (let i = 1; i <= 5; i++) await change(rows(i, i, 0));
    page.isReading = true;
    page.read();
    expect(page.values.get("1")).toEqual(rows(5, 5, 0));
    expect(page.frames).toHaveLength(2);
    await change(rows(6, 5, 0));
    expect(page.frames.at(-1)).toMatchObject({ patch: [rows(6)[0], [1, 3]] });
  });

  it("has no frame of its own in memory: all pages share one of each kind", async () => {
    const slow = await Promise.all(Array.from({ length: 50 }, () => openPage()));
    for (const page of slow) page.isReading = false;
    await change(rows(1, 0, 0));
    const frames = slow.map(({ connection }) => connection?.take());
    expect(new Set(frames).size).toBe(1);
    expect(frames[0]?.event).toBe(frames[1]?.event);
  });
});

describe("a page that connects again", () => {
  it("gets nothing if it has the last value, and a patch or the version alone if it has the one before", async () => {
    const page = await openPage();
    page.connect(process);
    await wait(100);
    expect(page.frames).toHaveLength(1);
    page.disconnect();
    const other = await openPage();
    await change(rows(1, 0, 0));
    page.connect(process);
    await wait(100);
    expect(page.frames.slice(1)).toEqual([expect.objectContaining({ patch: [rows(1)[0], [1, 3]] })]);
    expect(other.values.get("1")).toEqual(page.values.get("1"));
  });

  it("gets the whole value if its version is malformed or of another value", async () => {
    const page = await openPage();
    const version = page.versions.get("1") ?? "";
    for (const received of [
      "",
      "x",
      version.slice(1),
      version.replace(/=[^,]*/, "=:"),
      `xxxxxxxxxxxx${version.slice(12)}`,
    ]) {
      page.versions.set("1", received);
      page.values.delete("1");
      page.connect(process);
      await wait(100);
      if (received.startsWith("xxxx")) await change(rows(1, 1, 1)); // its page claims to have the value
      expect(page.frames.at(-1)).toHaveProperty("value");
    }
  });

  it("keeps its value on another process if no channel has passed the version, without a run", async () => {
    const page = await openPage();
    const run = vi.fn();
    const other = createQueryProcess(bus, { log: recordedLog().log, run });
    page.connect(other);
    await wait(1_000);
    expect(run).not.toHaveBeenCalled();
    expect(page.frames).toHaveLength(1);
    page.disconnect();
    other.close();
  });
});

describe("a token", () => {
  const now = () => Date.now() / 1000;

  it("ends during a connection: its page gets nothing from then on", async () => {
    const page = await openPage(["1"], { expiresAt: now() + 10 });
    await change(rows(1));
    expect(page.values.get("1")).toEqual(rows(1));
    await wait(11_000);
    expect(page.ended).toEqual(["token of 1"]);
    await change(rows(2));
    expect(page.values.get("1")).toEqual(rows(1));
    expect(process.cache.bytes).toBeGreaterThan(0);
  });

  it("ends with a sign-out, also one in another process; those of other sign-ins do not", async () => {
    const [alice, bob, nobody] = [
      await openPage(["1"], { user: "alice" }),
      await openPage(["1"], { user: "bob" }),
      await openPage(["1"]),
    ];
    await bus.publish("\u0000presence", JSON.stringify(sessionTag("sid of alice")));
    await change(rows(1));
    expect([alice, bob, nobody].map(({ ended }) => ended)).toEqual([["token of 1"], [], []]);
    expect([alice, bob, nobody].map(({ values }) => values.get("1"))).toEqual([rows(0, 0, 0), rows(1), rows(1)]);
  });

  it("ends with a sign-out that was missed while the bus was unreachable, and not with the loss of its history", async () => {
    const [alice, bob, nobody] = [
      await openPage(["1"], { user: "alice" }),
      await openPage(["1"], { user: "bob" }),
      await openPage(["1"]),
    ];
    bus.suppressesNotifications = true;
    await bus.publish("\u0000presence", JSON.stringify(sessionTag("sid of alice")));
    bus.notifyAll();
    await wait(100);
    expect([alice, bob, nobody].map(({ ended }) => ended.length)).toEqual([1, 0, 0]);
    bus.loseHistory();
    await wait(100);
    expect([alice, bob, nobody].map(({ ended }) => ended.length)).toEqual([1, 0, 0]);
  });

  it("brings no value when its sign-in is not valid any more, before the connection ends", async () => {
    const page = await openPage(["1"], { user: "alice" });
    page.isValid = false;
    await change(rows(1));
    expect(page.values.get("1")).toEqual(rows(0, 0, 0));
  });
});

describe("the process", () => {
  it("answers for a query that it lacks with its build, and serves the others", async () => {
    Object.assign(process.definition, { hash: "other1" });
    const page = new QueryPage(["1"]);
    pages.push(page);
    const hash = "abcdef";
    page.connect({ ...process, definition: { ...process.definition, hash } });
    expect(page.frames).toEqual([{ stale: "b1" }]);
  });

  it("serves no query with auth_required to a signed-out client", async () => {
    process.close();
    start({ authRequired: true });
    const [page, alice] = [await openPage(), await openPage(["1"], { user: "alice" })];
    expect(page.frames).toEqual([{ error: { code: "unauthenticated", message: "Please sign in.", details: {} } }]);
    expect(alice.values.get("1")).toEqual(rows(0, 0, 0));
  });

  it(`serves ${MAX_PLACES_PER_CLIENT} queries of one client, and more when others end`, async () => {
    const boards = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${from + i}`);
    const [first] = await Promise.all([
      openPage(boards(0, 250), { client: "u:alice" }),
      openPage(boards(250, 500), { client: "u:alice" }),
      openPage(boards(500, 750), { client: "u:alice" }),
      openPage(boards(750, 999), { client: "u:alice" }),
    ]);
    const last = await openPage(["999"], { client: "u:alice" });
    expect(last.values.get("999")).toEqual(rows(0, 0, 0));
    const [above, again, other] = await Promise.all([
      openPage(["1000"], { client: "u:alice" }),
      openPage(["999"], { client: "u:alice" }),
      openPage(["1000"], { client: "u:bob" }),
    ]);
    expect(above.errors.get("1000")).toBe("rate_limited");
    expect([again.values.get("999"), other.values.get("1000")]).toEqual([rows(0, 0, 0), rows(0, 0, 0)]);
    first?.disconnect();
    above.connect(process, { client: "u:alice" });
    await wait(100);
    expect(above.values.get("1000")).toEqual(rows(0, 0, 0));
  });

  it("drops values that nobody receives first, and runs again for a page that needs a dropped one", async () => {
    process.close();
    const run = vi.fn(async () => ({ kind: "value" as const, json: JSON.stringify("x".repeat(10_000)) }));
    start({ run, maxCacheBytes: 64 * 1024 });
    const used = await Promise.all(Array.from({ length: 3 }, (_, i) => openPage([`used ${i}`])));
    for (let i = 0; i < 100; i++) {
      const page = await openPage([`board ${i}`]);
      page.disconnect();
    }
    expect(process.cache.bytes).toBeLessThanOrEqual(64 * 1024);
    expect(process.runs.size).toBeLessThanOrEqual(103);
    const count = run.mock.calls.length;
    const [again] = used;
    again?.versions.clear();
    again?.connect(process);
    await wait(100);
    expect(again?.values.get("used 0")).toHaveLength(10_000);
    expect(run).toHaveBeenCalledTimes(count + 1);
  });
});
