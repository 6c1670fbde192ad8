import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { feedOf } from "#test/live-feed";
import { LivePage, type PageOptions, say } from "#test/live-page";

const MESSAGE = "Missed live updates (trimmed). Reload the page.";

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

/** Opens a page and sends it a gap. */
async function openWithGap(options: PageOptions = {}): Promise<LivePage> {
  const page = await LivePage.open(options);
  page.subscribe(feedOf("room:1"), () => {});
  page.subscribe(feedOf("room:2"), () => {});
  await page.pass();
  page.last.open().push(say.gap("-,p.0", "room:1", "trimmed"));
  return page;
}

describe("a page with a gap and without a gap handler", () => {
  test("is reloaded", async () => {
    const page = await openWithGap();
    await page.pass();
    expect(page.reloads).toBe(1);
    expect(page.said).toEqual([]);
  });

  test("is reloaded after a random delay of up to 3 seconds", async () => {
    random.mockReturnValue(0.999);
    const page = await openWithGap();
    await page.pass(2_990);
    expect(page.reloads).toBe(0);
    await page.pass(10);
    expect(page.reloads).toBe(1);
  });

  test("is reloaded once for several gaps", async () => {
    random.mockReturnValue(0.5);
    const page = await openWithGap();
    await page.pass();
    page.last.push(say.gap("-,-", "room:2", "reset"));
    await page.pass(100_000);
    expect(page.reloads).toBe(1);
    expect(page.said).toEqual([]);
  });

  test("is not reloaded while a field has unsaved input", async () => {
    const page = await openWithGap();
    page.fields.push({ value: "as it was", sent: "as it was" }, { value: "Dear Ada, I", sent: "" });
    await page.pass(600_000);
    expect(page.reloads).toBe(0);
    page.fields[1] = { value: "", sent: "" };
    await page.pass(1_000);
    expect(page.reloads).toBe(1);
  });

  test("is not reloaded while an editable element has the focus", async () => {
    const page = await openWithGap();
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
  ])("that was reloaded %i ms ago is reloaded %i times, and logs an error otherwise", async (ago, reloads) => {
    const storage = new Map<string, string>();
    const first = await openWithGap({ storage });
    await first.pass();
    expect(first.reloads).toBe(1);
    const at = Date.now();
    const second = await openWithGap({ storage });
    vi.setSystemTime(at + ago);
    await second.pass();
    expect(second.reloads).toBe(reloads);
    expect(second.said).toEqual(reloads ? [] : [MESSAGE]);
  });

  test("is reloaded if the clock was set back by more than 30 seconds since the last reload", async () => {
    const page = await openWithGap({ storage: new Map([["tsweb-reload", `${Date.now() + 3_600_000}`]]) });
    await page.pass();
    expect([page.reloads, page.said]).toEqual([1, []]);
  });

  test("is not reloaded and logs an error if the storage is blocked", async () => {
    const page = await openWithGap({ storage: null });
    await page.pass(600_000);
    expect(page.reloads).toBe(0);
    expect(page.said).toEqual([MESSAGE]);
  });

  test("is reloaded for another gap after 30 seconds", async () => {
    const storage = new Map([["tsweb-reload", `${Date.now()}`]]);
    const page = await openWithGap({ storage });
    await page.pass(20_000);
    page.last.push(say.ping);
    await page.pass(10_001);
    expect([page.reloads, page.said]).toEqual([0, [MESSAGE]]);
    page.last.push(say.gap("-,-", "room:2", "trimmed"));
    await page.pass();
    expect([page.reloads, page.said]).toEqual([1, [MESSAGE]]);
  });
});

test("a page with a gap handler is not reloaded", async () => {
  const page = await LivePage.open();
  const reasons: string[] = [];
  page.subscribe(feedOf("room:1"), () => {}, { gap: (reason) => reasons.push(reason) });
  await page.pass();
  page.last.open().push(say.gap("-", "room:1", "expired"));
  await page.pass(100_000);
  expect([reasons, page.reloads, page.said]).toEqual([["expired"], 0, []]);
});
