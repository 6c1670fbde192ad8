import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ERROR_EVENT, REPORT_ERRORS } from "./browser-script.ts";

/** Runs the script with a window of its own. Returns what the page would do. */
function openPage() {
  const listeners = new Map<string, (event: object) => void>();
  const updates = new Map<string, (payload: object) => void>();
  const reports: { readonly message: string; readonly overlay: boolean }[] = [];
  const hot = {
    on: (name: string, listener: (payload: object) => void) => updates.set(name, listener),
    send: (name: string, report: { message: string; overlay: boolean }) => name === ERROR_EVENT && reports.push(report),
  };
  const window = {
    ...{ hotContext: hot, Response: class {}, location: { origin: "http://localhost" } },
    ...{ Error, performance, setTimeout, clearTimeout },
    addEventListener: (name: string, listener: (event: object) => void) => listeners.set(name, listener),
  };
  runInNewContext(REPORT_ERRORS.replaceAll("import.meta.hot", "hotContext"), window);
  return {
    fail(message: string, path = "/src/a.tsx") {
      const stack = `Error: ${message}\n    at A (http://localhost${path}?t=1:3:5)`;
      listeners.get("error")?.({ error: Object.assign(new Error(message), { stack }) });
    },
    update: (...paths: string[]) => updates.get("vite:beforeUpdate")?.({ updates: paths.map((path) => ({ path })) }),
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

  it("reports an error after an update a moment later, because an edit of the server may follow", () => {
    const page = openPage();
    page.update("/src/a.tsx");
    page.fail("a");
    vi.advanceTimersByTime(299);
    expect(page.reported()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(page.reported()).toEqual(["a"]);
  });

  it("does not report an error after an update if the page is then reloaded", () => {
    const page = openPage();
    page.update("/src/a.tsx");
    page.fail("of the old props");
    vi.advanceTimersByTime(299);
    page.reload();
    vi.advanceTimersByTime(10_000);
    expect(page.reported()).toEqual([]);
    page.fail("in a page whose user has cancelled the reload");
    vi.advanceTimersByTime(0);
    expect(page.reported()).toEqual(["in a page whose user has cancelled the reload"]);
  });

  it("does not report an error after an update if its module is updated again at once", () => {
    const page = openPage();
    page.update("/src/a.tsx", "/src/b.tsx");
    page.fail("in a", "/src/a.tsx");
    page.fail("in b", "/src/b.tsx");
    vi.advanceTimersByTime(100);
    page.update("/src/a.tsx");
    vi.advanceTimersByTime(10_000);
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
});
