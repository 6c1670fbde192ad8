import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeEvent, FakePage, type FakePageOptions } from "#test/fake-page";
import { unsignedFeed } from "#test/unsigned-feed";

let random: { mockReturnValue(value: number): unknown };

beforeEach(() => {
  vi.useFakeTimers();
  random = vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
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

  test("is reloaded within the time that the server has sent with the gap", async () => {
    random.mockReturnValue(0.999);
    const page = await FakePage.open();
    page.subscribe(unsignedFeed("room:1"), () => {});
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "reset", 40_000));
    await page.advance(39_900);
    expect(page.reloadCount).toBe(0);
    await page.advance(100);
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

  test("is reloaded when 30 seconds have passed since it was reloaded", async () => {
    const page = await openWithGap({ navigation: "reload" });
    await page.advance(30_000);
    expect([page.reloadCount, page.consoleErrors]).toEqual([0, []]);
    await page.advance(1_000);
    expect([page.reloadCount, page.consoleErrors]).toEqual([1, []]);
    await page.advance(100_000);
    expect(page.reloadCount).toBe(1);
  });

  test("is reloaded at once if it was reloaded more than 30 seconds before the gap", async () => {
    const page = await FakePage.open({ navigation: "reload" });
    await page.advance(30_001);
    page.subscribe(unsignedFeed("room:1"), () => {});
    await page.advance();
    page.lastRequest.respondStream().push(encodeEvent.gap("-", "room:1", "expired"));
    await page.advance();
    expect(page.reloadCount).toBe(1);
  });

  test("is reloaded for another gap if the user has cancelled the first reload", async () => {
    const page = await openWithGap();
    await page.advance();
    expect(page.reloadCount).toBe(1);
    page.lastRequest.push(encodeEvent.gap("-,-", "room:2", "trimmed"));
    await page.advance(100_000);
    expect(page.reloadCount).toBe(2);
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

describe("a script that cannot be loaded", () => {
  const open = async (options: FakePageOptions = {}) => {
    const page = await FakePage.open(options);
    return { page, ...(await import("./reload.ts")) };
  };
  const missing = (name: string) => new TypeError(`Failed to fetch dynamically imported module: /assets/${name}.js`);

  beforeEach(() => vi.stubGlobal("sessionStorage", {}));

  test("reloads the page once in a tab, also if the page that is loaded then has the same error", async () => {
    const first = await open();
    first.reloadOnce(missing("a"));
    await first.page.advance(100_000);
    const second = await open({ navigation: "reload" });
    second.reloadOnce(missing("a"));
    await second.page.advance(100_000);
    expect([first.page.reloadCount, second.page.reloadCount]).toEqual([1, 0]);
  });

  test("reloads the page for each script", async () => {
    const { page, reloadOnce } = await open();
    reloadOnce(missing("a"));
    await page.advance(100_000);
    reloadOnce(missing("b"));
    await page.advance(100_000);
    expect(page.reloadCount).toBe(2);
  });

  test("does not reload the page while a field has unsaved input", async () => {
    const { page, reloadOnce } = await open();
    page.fields.push({ value: "Dear Ada, I", initialValue: "" });
    reloadOnce(missing("a"));
    await page.advance(600_000);
    expect(page.reloadCount).toBe(0);
  });

  test("does not reload the page if the browser allows no storage, since it could not remember that", async () => {
    const { page, reloadOnce } = await open();
    vi.stubGlobal("sessionStorage", undefined);
    expect(() => reloadOnce(missing("a"))).toThrow();
    await page.advance(100_000);
    expect(page.reloadCount).toBe(0);
  });
});
