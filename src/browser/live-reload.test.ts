import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { feedOf } from "#test/live-feed";
import { LivePage, type PageOptions, say } from "#test/live-page";

const SAID = "Missed live updates (trimmed). Reload the page.";

let random: { mockReturnValue(value: number): unknown };

beforeEach(() => {
  vi.useFakeTimers();
  random = vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Opens a page, and has it miss something. */
async function missing(options: PageOptions = {}): Promise<LivePage> {
  const page = await LivePage.open(options);
  page.subscribe(feedOf("room:1"), () => {});
  page.subscribe(feedOf("room:2"), () => {});
  await page.pass();
  page.last.open().push(say.gap("-,p.0", "room:1", "trimmed"));
  return page;
}

describe("a page that missed something, and has no word of its own for it", () => {
  test("reloads", async () => {
    const page = await missing();
    await page.pass();
    expect(page.reloads).toBe(1);
    expect(page.said).toEqual([]);
  });

  test("reloads within 3 seconds, so that not all do at once", async () => {
    random.mockReturnValue(0.999);
    const page = await missing();
    await page.pass(2_990);
    expect(page.reloads).toBe(0);
    await page.pass(10);
    expect(page.reloads).toBe(1);
  });

  test("reloads once, however much it missed", async () => {
    random.mockReturnValue(0.5);
    const page = await missing();
    await page.pass();
    page.last.push(say.gap("-,-", "room:2", "reset"));
    await page.pass(100_000);
    expect(page.reloads).toBe(1);
    expect(page.said).toEqual([]);
  });

  test("waits while a field holds what was entered, and no longer", async () => {
    const page = await missing();
    page.fields.push({ value: "as it was", sent: "as it was" }, { value: "Dear Ada, I", sent: "" });
    await page.pass(600_000);
    expect(page.reloads).toBe(0);
    page.fields[1] = { value: "", sent: "" };
    await page.pass(1_000);
    expect(page.reloads).toBe(1);
  });

  test("waits while something editable has the focus", async () => {
    const page = await missing();
    page.active = { isContentEditable: true };
    await page.pass(600_000);
    expect(page.reloads).toBe(0);
    page.active = { isContentEditable: false };
    await page.pass(1_000);
    expect(page.reloads).toBe(1);
  });

  test.each([
    [0, 0],
    [29_999, 0],
    [30_000, 0],
    [30_001, 1],
  ])("and was reloaded %i ms ago reloads %i times, and says so else", async (ago, reloads) => {
    const storage = new Map<string, string>();
    const first = await missing({ storage });
    await first.pass();
    expect(first.reloads).toBe(1);
    const at = Date.now();
    const second = await missing({ storage });
    vi.setSystemTime(at + ago);
    await second.pass();
    expect(second.reloads).toBe(reloads);
    expect(second.said).toEqual(reloads ? [] : [SAID]);
  });

  test("reloads when the clock was set back by more since it last did", async () => {
    const page = await missing({ storage: new Map([["tsweb-reload", `${Date.now() + 3_600_000}`]]) });
    await page.pass();
    expect([page.reloads, page.said]).toEqual([1, []]);
  });

  test("and has no storage to remember by says so, and does not reload", async () => {
    const page = await missing({ storage: null });
    await page.pass(600_000);
    expect(page.reloads).toBe(0);
    expect(page.said).toEqual([SAID]);
  });

  test("says so, and reloads for what it misses half a minute later", async () => {
    const storage = new Map([["tsweb-reload", `${Date.now()}`]]);
    const page = await missing({ storage });
    await page.pass(20_000);
    page.last.push(say.ping);
    await page.pass(10_001);
    expect([page.reloads, page.said]).toEqual([0, [SAID]]);
    page.last.push(say.gap("-,-", "room:2", "trimmed"));
    await page.pass();
    expect([page.reloads, page.said]).toEqual([1, [SAID]]);
  });
});

test("a page with a word of its own does not reload", async () => {
  const page = await LivePage.open();
  const told: string[] = [];
  page.subscribe(feedOf("room:1"), () => {}, { gap: (reason) => told.push(reason) });
  await page.pass();
  page.last.open().push(say.gap("-", "room:1", "expired"));
  await page.pass(100_000);
  expect([told, page.reloads, page.said]).toEqual([["expired"], 0, []]);
});
