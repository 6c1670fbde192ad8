/**
 * Delivery to several tabs that share a connection is complete, once and in order (docs/protocol.md 10.8, 10.10), under random
 * hand-overs: tabs are opened, closed, crash, are frozen, kept for Back, hidden and blocked, broadcasts between them are lost,
 * connections are cut. The messages of each listener are compared with those of the server.
 */
import type { Script } from "node:vm";
import fc from "fast-check";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { compileTabs } from "#test/compile-tabs";
import { FakeBrowser, type FakeListener, type FakeTab } from "#test/fake-browser";

const CHANNELS = ["a", "b", "c"] as const;
/** How many sequences of hand-overs are tried. */
const RUNS = Number(process.env.TABS_RUNS ?? 60);

let script: Script;
let browser: FakeBrowser;
beforeAll(async () => {
  script = await compileTabs();
});

beforeEach(() => {
  vi.useFakeTimers();
  browser = new FakeBrowser(script);
});

afterEach(() => {
  for (const tab of browser.tabs) tab.crash();
  expect(browser.tabs.flatMap(({ errors }) => errors)).toEqual([]);
  vi.useRealTimers();
});

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Opens a tab with a listener, and waits until it is connected. */
async function openTab(channel = "a", options: { readonly isHidden?: boolean } = {}): Promise<[FakeTab, FakeListener]> {
  const tab = browser.open(options);
  const listener = tab.subscribe(channel);
  await advance(200);
  return [tab, listener];
}

const expected = ({ channel, from }: FakeListener) =>
  Array.from({ length: browser.count(channel) - from }, (_, n) => from + n + 1);

describe("tabs of one sign-in", () => {
  test("have one stream for all of their channels", async () => {
    const listeners = [];
    for (const channel of ["a", "b", "a", "c"]) listeners.push((await openTab(channel))[1]);
    expect([...browser.streams].map(({ channels }) => channels)).toEqual([["a", "b", "c"]]);
    for (const channel of CHANNELS) browser.publish(channel);
    await advance(10);
    for (const listener of listeners) expect(listener.received).toEqual([1]);
    expect(browser.streams.size).toBe(1);
  });

  test.each([
    ["is closed", (tab: FakeTab) => tab.close(), 200],
    ["crashes", (tab: FakeTab) => tab.crash(), 200],
    ["is frozen", (tab: FakeTab) => tab.suspend("freeze"), 200],
    ["is kept for Back", (tab: FakeTab) => tab.suspend("keep"), 200],
    ["shows a dialog", (tab: FakeTab) => tab.suspend("alert"), 7_300],
  ])("continue if the tab with the connection %s", async (_, end, ms) => {
    const [leader] = await openTab();
    const [, second] = await openTab();
    const [, third] = await openTab("b");
    end(leader);
    browser.publish("a");
    browser.publish("b");
    await advance(ms);
    expect([second.received, third.received]).toEqual([[1], [1]]);
    expect([...browser.streams].filter(({ tab }) => tab !== leader)).toHaveLength(1);
  });

  test("are led by a visible one, and the connection stays until it has its own", async () => {
    const [leader, first] = await openTab();
    const [other] = await openTab("a", { isHidden: true });
    leader.setHidden(true);
    await advance(3_000);
    expect([...browser.streams].map(({ tab }) => tab)).toEqual([leader]); // no tab is visible
    other.setHidden(false);
    await advance(50);
    browser.publish("a");
    expect(browser.streams.size).toBe(1);
    await advance(100);
    expect([...browser.streams].map(({ tab }) => tab)).toEqual([other]);
    expect(first.received).toEqual([1]);
  });

  test("take nothing from a connection that was opened before they were restored [LIVE-52]", async () => {
    await openTab();
    const [kept, listener] = await openTab("a");
    kept.suspend("keep");
    await advance(1_000);
    browser.latencyMs = 500;
    kept.resume();
    await advance(300); // the tab has joined, and its connection is not open yet
    browser.publish("a");
    await advance(100);
    expect(listener.received).toEqual([]);
    await advance(500);
    expect(listener.received).toEqual([1]);
  });

  test("post again what they want if a message of the connection is lost between them", async () => {
    await openTab();
    const [, listener] = await openTab();
    browser.losses = 1;
    browser.publish("a");
    await advance(10);
    expect([browser.losses, listener.received]).toEqual([0, []]);
    browser.publish("a");
    await advance(10);
    expect(listener.received).toEqual([]); // the second message does not continue what the tab has
    await advance(2_500);
    expect(listener.received).toEqual([1, 2]);
  });

  test("change their channels without an interruption", async () => {
    const [, first] = await openTab();
    const [tab] = await openTab();
    browser.latencyMs = 300;
    const late = tab.subscribe("b");
    for (let n = 0; n < 10; n++) {
      browser.publish("a");
      await advance(40);
      expect(first.received.length).toBe(n + 1);
    }
    browser.publish("b");
    await advance(400);
    expect(late.received).toEqual([1]);
    expect([browser.streams.size, browser.maxStreams]).toEqual([1, 2]);
  });

  test("with more channels than one connection can have use further ones", async () => {
    const tabs = [browser.open(), browser.open(), browser.open()];
    const listeners = tabs.flatMap((tab, i) => Array.from({ length: 120 }, (_, n) => tab.subscribe(`${i}-${n}`)));
    await advance(3_000);
    expect([...browser.streams].map(({ channels }) => channels.length).toSorted()).toEqual([120, 240]);
    for (const { channel } of listeners) browser.publish(channel);
    await advance(100);
    for (const listener of listeners) expect(listener.received).toEqual([1]);
  });
});

describe("what shares a connection", () => {
  test("is loaded only if there is a second tab", async () => {
    const [tab, listener] = await openTab();
    tab.setHidden(true);
    tab.goOnline();
    tab.setHidden(false);
    await advance(40_000);
    browser.publish("a");
    await advance(100);
    expect([listener.received, browser.chunkCount, browser.streams.size]).toEqual([[1], 0, 1]);
    await openTab();
    expect([browser.chunkCount, browser.streams.size]).toEqual([2, 1]);
  });

  test.each([
    ["the first tab", 0],
    ["the second tab", 1],
  ])("leaves a connection of its own to %s if it cannot load it", async (_, index) => {
    const listeners: FakeListener[] = [];
    const tabs = [browser.open(), browser.open(), browser.open()] as const;
    const broken = tabs[index];
    browser.failingTab = broken;
    for (const tab of tabs) {
      listeners.push(tab.subscribe("a"));
      await advance(200);
    }
    browser.publish("a");
    await advance(100);
    for (const { received } of listeners) expect(received).toEqual([1]);
    expect([...browser.streams].filter(({ tab }) => tab === broken)).toHaveLength(1);
    expect(browser.streams.size).toBe(2);
  });

  test("does not delay a tab by more than 10 seconds, and is used when it is there", async () => {
    await openTab();
    browser.chunkMs = 30_000;
    const [, second] = await openTab("b");
    browser.publish("b");
    await advance(9_700);
    expect(second.received).toEqual([]);
    await advance(200);
    expect([second.received, browser.streams.size]).toEqual([[1], 2]);
    await advance(25_000);
    browser.publish("b");
    await advance(100);
    expect([second.received, browser.streams.size]).toEqual([[1, 2], 1]);
  });

  test("is not used by a page that has been left before it was loaded", async () => {
    await openTab();
    browser.chunkMs = 500;
    const [kept, listener] = await openTab();
    kept.suspend("keep");
    await advance(2_000);
    browser.publish("a");
    expect([...browser.streams].filter(({ tab }) => tab === kept)).toHaveLength(0);
    kept.resume();
    await advance(700);
    expect([listener.received, browser.streams.size]).toEqual([[1], 1]);
  });
});

describe("a tab of another sign-in", () => {
  test("has a stream of its own, and that of the others ends with the gap expired", async () => {
    const [, before] = await openTab();
    const [, second] = await openTab("b");
    browser.signIn = "AAAAAAAAAAA";
    const [, after] = await openTab();
    expect([before.gaps, second.gaps, after.gaps]).toEqual([["expired"], ["expired"], []]);
    browser.publish("a");
    await advance(100);
    expect([before.received, after.received]).toEqual([[], [1]]);
    expect(browser.streams.size).toBe(1);
  });
});

test("all tabs are notified if the first poll is refused, before there was a connection", async () => {
  browser.isRefusing = true;
  const [, first] = await openTab();
  const [, second] = await openTab("b");
  await advance(10_000);
  expect([first.gaps, second.gaps]).toEqual([["expired"], ["expired"]]);
  const requests = browser.requestCount;
  await advance(120_000);
  expect(browser.requestCount).toBe(requests);
});

test("tabs of a browser without locks have a stream each", async () => {
  browser = new FakeBrowser(script, { hasLocks: false });
  const [, first] = await openTab();
  const [, second] = await openTab();
  browser.publish("a");
  await advance(10);
  expect([first.received, second.received, browser.streams.size]).toEqual([[1], [1], 2]);
});

const tab = fc.nat(7);
const channel = fc.constantFrom(...CHANNELS);
const actions = fc.array(
  fc.tuple(
    fc.oneof(
      { weight: 8, arbitrary: fc.record({ type: fc.constant("publish" as const), channel }) },
      {
        weight: 6,
        arbitrary: fc.record({ type: fc.constant("lost" as const), channel, count: fc.integer({ min: 3, max: 7 }) }),
      },
      { weight: 3, arbitrary: fc.record({ type: fc.constantFrom("subscribe", "stop"), tab, channel }) },
      { weight: 3, arbitrary: fc.record({ type: fc.constant("open" as const), channel, isHidden: fc.boolean() }) },
      { weight: 6, arbitrary: fc.record({ type: fc.constantFrom("close", "crash", "freeze", "keep", "alert"), tab }) },
      { weight: 6, arbitrary: fc.record({ type: fc.constantFrom("resume", "hide", "show", "online"), tab }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("cut", "down", "up") }) },
      {
        weight: 2,
        arbitrary: fc.record({ type: fc.constant("lose" as const), count: fc.integer({ min: 1, max: 5 }) }),
      },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("slow" as const), ms: fc.nat(300) }) },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant("chunk" as const), chunkMs: fc.oneof(fc.nat(300), fc.nat(20_000)) }),
      },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("broken" as const), tab }) },
      { weight: 3, arbitrary: fc.record({ type: fc.constant("settle" as const) }) },
    ),
    fc.oneof(fc.nat(5), fc.nat(100), fc.nat(6_000)),
  ),
  { maxLength: 60 },
);
type Action = (typeof actions extends fc.Arbitrary<infer T extends readonly (readonly [unknown, number])[]>
  ? T
  : never)[number][0];

async function perform(action: Action): Promise<void> {
  const alive = browser.tabs.filter(({ isGone }) => !isGone);
  const chosen = "tab" in action ? alive[action.tab % Math.max(1, alive.length)] : undefined;
  switch (action.type) {
    case "publish":
      if ("channel" in action) browser.publish(action.channel);
      break;
    case "lost":
      // Some tabs miss a message, and receive what follows it.
      if (!("count" in action && "channel" in action)) break;
      browser.losses = action.count;
      browser.publish(action.channel);
      await advance(5);
      browser.losses = 0;
      browser.publish(action.channel);
      break;
    case "settle":
      browser.isDown = false;
      browser.losses = 0;
      browser.latencyMs = 5;
      await advance(70_000); // a stream is tried again after polls for 60 seconds
      expectComplete(browser.tabs.filter(({ isVisible }) => isVisible));
      break;
    case "open":
      if (alive.length < 8 && "isHidden" in action) browser.open(action).subscribe(action.channel);
      break;
    case "subscribe":
      if ("channel" in action && chosen && !chosen.isSuspended) chosen.subscribe(action.channel);
      break;
    case "stop": {
      const listener = chosen?.listeners.find(({ isStopped }) => !isStopped);
      if (listener && !chosen?.isSuspended) {
        listener.isStopped = true;
        listener.stop();
      }
      break;
    }
    case "close":
      if (!chosen?.isSuspended) chosen?.close();
      break;
    case "crash":
      chosen?.crash();
      break;
    case "freeze":
    case "keep":
    case "alert":
      chosen?.suspend(action.type);
      break;
    case "resume":
      chosen?.resume();
      break;
    case "hide":
    case "show":
      chosen?.setHidden(action.type === "hide");
      break;
    case "online":
      chosen?.goOnline();
      break;
    case "cut":
      browser.cut();
      break;
    case "down":
      browser.isDown = true;
      browser.cut();
      break;
    case "up":
      browser.isDown = false;
      break;
    case "lose":
      if ("count" in action) browser.losses = action.count;
      break;
    case "chunk":
      if ("chunkMs" in action) browser.chunkMs = action.chunkMs;
      break;
    case "broken":
      browser.failingTab = chosen;
      break;
    case "slow":
      if ("ms" in action) browser.latencyMs = action.ms;
      break;
  }
}

/** Expects that the listeners of tabs have received everything. */
function expectComplete(tabs: readonly FakeTab[]): void {
  for (const listener of tabs.flatMap(({ listeners }) => listeners)) {
    if (listener.isStopped) continue;
    expect(listener.received).toEqual(expected(listener));
    expect(listener.gaps).toEqual([]);
  }
}

test("every listener of every tab receives every message since its feed was issued, once and in order", {
  timeout: 60_000 + RUNS * 1_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(actions, async (steps) => {
      browser = new FakeBrowser(script);
      for (const channel of CHANNELS) for (let n = 0; n < 2; n++) browser.open().subscribe(channel);
      for (const [action, ms] of steps) {
        await perform(action);
        await advance(ms);
        for (const tab of browser.tabs)
          for (const listener of tab.listeners)
            expect(listener.received).toEqual(expected(listener).slice(0, listener.received.length));
      }
      browser.isDown = false;
      browser.losses = 0;
      for (const tab of browser.tabs) tab.resume();
      for (const tab of browser.tabs) tab.setHidden(false);
      for (let n = 0; n < 5; n++) {
        await advance(35_000);
        for (const channel of CHANNELS) browser.publish(channel);
      }
      await advance(10_000);
      expectComplete(browser.tabs.filter(({ isGone }) => !isGone));
      // A tab that could not load what shares a connection has its own.
      expect(browser.streams.size).toBeLessThanOrEqual(1 + browser.failed.size);
      for (const tab of browser.tabs) tab.crash();
    }),
    // Shrinking takes minutes. To shrink a failure, pass its seed and path, and no `endOnFailure`.
    { numRuns: RUNS, endOnFailure: true },
  );
});
