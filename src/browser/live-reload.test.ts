import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeEvent, FakePage, type FakePageOptions } from "#test/fake-page";
import { unsignedFeed } from "#test/unsigned-feed";

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
async function openWithGap(options: FakePageOptions = {}): Promise<FakePage> {
  const page = await FakePage.open(options);
  page.subscribe(unsignedFeed("room:1"), () => {});
  page.subscribe(unsignedFeed("room:2"), () => {});
  await page.advance();
  page.lastRequest.respondStream().push(encodeEvent.gap("-,p.0", "room:1", "trimmed"));
  return page;
}

describe("a page with a gap and without a gap handler", () => {
  test("is reloaded", async () => {
    const page = await openWithGap();
    await page.advance();
    expect(page.reloadCount).toBe(1);
    expect(page.consoleErrors).toEqual([]);
  });

  test("is reloaded after a random delay of up to 3 seconds", async () => {
    random.mockReturnValue(0.999);
    const page = await openWithGap();
    await page.advance(2_990);
    expect(page.reloadCount).toBe(0);
    await page.advance(10);
    expect(page.reloadCount).toBe(1);
  });

  test("is reloaded once for several gaps", async () => {
    random.mockReturnValue(0.5);
    const page = await openWithGap();
    await page.advance();
    page.lastRequest.push(encodeEvent.gap("-,-", "room:2", "reset"));
    await page.advance(100_000);
    expect(page.reloadCount).toBe(1);
    expect(page.consoleErrors).toEqual([]);
  });

  test("is not reloaded while a field has unsaved input", async () => {
    const page = await openWithGap();
    page.fields.push({ value: "as it was", initialValue: "as it was" }, { value: "Dear Ada, I", initialValue: "" });
    await page.advance(600_000);
    expect(page.reloadCount).toBe(0);
    page.fields[1] = { value: "", initialValue: "" };
    await page.advance(1_000);
    expect(page.reloadCount).toBe(1);
  });

  test("is not reloaded while an editable element has the focus", async () => {
    const page = await openWithGap();
    page.activeElement = { isContentEditable: true };
    await page.advance(600_000);
    expect(page.reloadCount).toBe(0);
    page.activeElement = { isContentEditable: false };
    await page.advance(1_000);
    expect(page.reloadCount).toBe(1);
  });

  test.each([
    [0, 0],
    [29_999, 0],
    [30_000, 0],
    [30_001, 1],
  ])("that was reloaded %i ms ago is reloaded %i times, and logs an error otherwise", async (ago, reloads) => {
    const storage = new Map<string, string>();
    const first = await openWithGap({ storage });
    await first.advance();
    expect(first.reloadCount).toBe(1);
    const at = Date.now();
    const second = await openWithGap({ storage });
    vi.setSystemTime(at + ago);
    await second.advance();
    expect(second.reloadCount).toBe(reloads);
    expect(second.consoleErrors).toEqual(reloads ? [] : [MESSAGE]);
  });

  test("is reloaded if the clock was set back by more than 30 seconds since the last reload", async () => {
    const page = await openWithGap({ storage: new Map([["tsweb-reload", `${Date.now() + 3_600_000}`]]) });
    await page.advance();
    expect([page.reloadCount, page.consoleErrors]).toEqual([1, []]);
  });

  test("is not reloaded and logs an error if the storage is blocked", async () => {
    const page = await openWithGap({ storage: null });
    await page.advance(600_000);
    expect(page.reloadCount).toBe(0);
    expect(page.consoleErrors).toEqual([MESSAGE]);
  });

  test("is reloaded for another gap after 30 seconds", async () => {
    const storage = new Map([["tsweb-reload", `${Date.now()}`]]);
    const page = await openWithGap({ storage });
    await page.advance(20_000);
    page.lastRequest.push(encodeEvent.ping);
    await page.advance(10_001);
    expect([page.reloadCount, page.consoleErrors]).toEqual([0, [MESSAGE]]);
    page.lastRequest.push(encodeEvent.gap("-,-", "room:2", "trimmed"));
    await page.advance();
    expect([page.reloadCount, page.consoleErrors]).toEqual([1, [MESSAGE]]);
  });
});

test("a page with a gap handler is not reloaded", async () => {
  const page = await FakePage.open();
  const reasons: string[] = [];
  page.subscribe(unsignedFeed("room:1"), () => {}, { gap: (reason) => reasons.push(reason) });
  await page.advance();
  page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "expired"));
  await page.advance(100_000);
  expect([reasons, page.reloadCount, page.consoleErrors]).toEqual([["expired"], 0, []]);
});
