import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VIEWS_UPDATE_EVENT } from "../../protocol/index.ts";
import { EDIT_AGE_HEADER, ERROR_EVENT, reportErrors } from "./browser-script.ts";

/** Runs the script with a window of its own. Returns what the page would do. */
function openPage({ editAgeMs = Number.MAX_VALUE, storage = new Map<string, string>() } = {}) {
  let reloads = 0;
  const openedAt = performance.now();
  const listeners = new Map<string, (event: object) => void>();
  const updates = new Map<string, (payload: object) => void>();
  const reports: { readonly message: string; readonly overlay: boolean }[] = [];
  const hot = {
    on: (name: string, listener: (payload: object) => void) => updates.set(name, listener),
    send: (name: string, report: { message: string; overlay: boolean }) => name === ERROR_EVENT && reports.push(report),
  };
  let render = () => {};
  const window = {
    fetch: (url: string) =>
      url === "/edits"
        ? Promise.resolve({ headers: new Headers({ [EDIT_AGE_HEADER]: String(editAgeMs) }) })
        : new Promise<object>((resolve) => (render = () => resolve({ status: 200 }))),
    AbortSignal,
    ...{ hotContext: hot, Response: class {}, location: { origin: "http://localhost", reload: () => reloads++ } },
    ...{ history: { state: null, replaceState: () => undefined } },
    sessionStorage: {
      getItem: (key: string) => storage.get(key) ?? null,
      setItem: (key: string, value: unknown) => storage.set(key, String(value)),
    },
    ...{ Error, setTimeout, clearTimeout, Date },
    performance: { now: () => performance.now(), getEntriesByType: () => [{ requestStart: openedAt }] },
    addEventListener: (name: string, listener: (event: object) => void) => listeners.set(name, listener),
  };
  runInNewContext(reportErrors("/edits").replaceAll("import.meta.hot", "hotContext"), window);
  return {
    fail(message: string, path = "/src/a.tsx") {
      const stack = `Error: ${message}\n    at A (http://localhost${path}?t=1:3:5)`;
      listeners.get("error")?.({ error: Object.assign(new Error(message), { stack }) });
    },
    failToHydrate(message: string) {
      listeners.get("error")?.({ error: Object.assign(new Error(message), { isMarkupDifference: true, stack: "" }) });
    },
    reloads: () => reloads,
    update: (...paths: string[]) => updates.get("vite:beforeUpdate")?.({ updates: paths.map((path) => ({ path })) }),
    render: () => render(),
    cancelReload: () => listeners.get("beforeunload")?.({ defaultPrevented: true }),
    updateViews: () => listeners.get(VIEWS_UPDATE_EVENT)?.({}),
    reload: () => updates.get("vite:beforeFullReload")?.({}),
    reported: () => reports.map(({ message }) => message),
  };
}

describe("the script that reports errors of a page", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("reports an error at once, and an equal one only once", () => {
    const page = openPage();
    for (let i = 0; i < 2; i++) page.fail("a");
    vi.advanceTimersByTime(0);
    expect(page.reported()).toEqual(["a"]);
  });

  it("reports an error after an update once the server has rendered the page, because an edit of the server may follow", async () => {
    const page = openPage();
    page.update("/src/a.tsx");
    page.fail("a");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(page.reported()).toEqual([]);
    page.render();
    await vi.advanceTimersByTimeAsync(0);
    expect(page.reported()).toEqual(["a"]);
  });

  it("does not report an error after an update if the page is then reloaded", async () => {
    const page = openPage();
    page.update("/src/a.tsx");
    page.fail("of the old props");
    await vi.advanceTimersByTimeAsync(5_000);
    page.reload();
    page.render();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(page.reported()).toEqual([]);
  });

  it("does not report an error between the request to reload and the new page, unless the user cancels the reload", async () => {
    const page = openPage();
    page.update("/src/a.tsx");
    page.reload();
    page.fail("of an update that was loaded late");
    await vi.advanceTimersByTimeAsync(10_000);
    page.render();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(page.reported()).toEqual([]);
    page.cancelReload();
    await vi.advanceTimersByTimeAsync(0);
    page.fail("in a page whose user has cancelled the reload");
    await vi.advanceTimersByTimeAsync(0);
    expect(page.reported()).toEqual(["in a page whose user has cancelled the reload"]);
  });

  it("holds an error of an update whose modules were loaded slowly", async () => {
    const page = openPage();
    page.update("/src/a.tsx");
    await vi.advanceTimersByTimeAsync(5_000);
    page.updateViews();
    page.fail("a");
    await vi.advanceTimersByTimeAsync(500);
    expect(page.reported()).toEqual([]);
    page.reload();
    page.render();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(page.reported()).toEqual([]);
  });

  it("does not report an error after an update if its module is updated again at once", async () => {
    const page = openPage();
    page.update("/src/a.tsx", "/src/b.tsx");
    page.fail("in a", "/src/a.tsx");
    page.fail("in b", "/src/b.tsx");
    await vi.advanceTimersByTimeAsync(100);
    page.update("/src/a.tsx");
    await vi.advanceTimersByTimeAsync(10_000);
    page.render();
    await vi.advanceTimersByTimeAsync(0);
    expect(page.reported()).toEqual(["in b"]);
  });

  it("reports an error long after an update at once", () => {
    const page = openPage();
    page.update("/src/a.tsx");
    vi.advanceTimersByTime(1_001);
    page.fail("a");
    vi.advanceTimersByTime(0);
    expect(page.reported()).toEqual(["a"]);
  });

  it("reloads a page that was requested before an edit if a view renders other markup, once, and reports it otherwise", async () => {
    const storage = new Map<string, string>();
    const open = async (editAgeMs: number) => {
      const page = openPage({ editAgeMs, storage });
      await vi.advanceTimersByTimeAsync(100);
      page.failToHydrate("other markup");
      await vi.advanceTimersByTimeAsync(0);
      return { reloads: page.reloads(), reported: page.reported() };
    };
    expect(await open(101)).toEqual({ reloads: 0, reported: ["other markup"] });
    expect(await open(99)).toEqual({ reloads: 1, reported: [] });
    expect(await open(99)).toEqual({ reloads: 0, reported: ["other markup"] });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await open(99)).toEqual({ reloads: 1, reported: [] });
  });

  it("reports any other error of a page that was requested before an edit", async () => {
    const page = openPage({ editAgeMs: 1 });
    await vi.advanceTimersByTimeAsync(100);
    page.fail("a");
    await vi.advanceTimersByTimeAsync(0);
    expect([page.reloads(), page.reported()]).toEqual([0, ["a"]]);
  });
});
