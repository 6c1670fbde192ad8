import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { build } from "vite";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  EDIT_AGE_HEADER,
  EDIT_EFFECT_HEADER,
  EDITS_PATH,
  ERROR_EVENT,
  HYDRATION_PROBLEM_EVENT,
  UPDATE_FAILURE_EVENT,
  VIEWS_UPDATE_EVENT,
} from "../../../protocol/index.ts";

let script = "";

beforeAll(async () => {
  const entry = fileURLToPath(new URL("./errors.ts", import.meta.url));
  const result = await build({
    configFile: false,
    logLevel: "silent",
    define: { "import.meta.hot": "hotContext" },
    build: { write: false, minify: false, lib: { entry, formats: ["es"] } },
  });
  const [bundle] = [result].flat();
  if (!bundle || !("output" in bundle)) throw new Error("Vite has built nothing.");
  script = bundle.output[0].code;
});

/** Runs the script with a window of its own. Returns what the page would do. */
function openPage({ editAgeMs = Number.MAX_VALUE, effectMs = 0, storage = new Map<string, string>() } = {}) {
  let reloads = 0;
  let age = () => editAgeMs;
  const console: string[] = [];
  const openedAt = performance.now();
  const listeners = new Map<string, ((event: object) => void)[]>();
  const dispatch = (name: string, event: object) => {
    for (const listener of listeners.get(name) ?? []) listener(event);
  };
  const updates = new Map<string, (payload: object) => void>();
  const reports: { readonly message: string; readonly overlay: boolean }[] = [];
  const hot = {
    on: (name: string, listener: (payload: object) => void) => updates.set(name, listener),
    send: (name: string, report: { message: string; overlay: boolean }) => name === ERROR_EVENT && reports.push(report),
  };
  let render = () => {};
  /** Dispatches an exception; one that no listener prevents is shown in the console. */
  const dispatchError = (error: Error) => {
    let defaultPrevented = false;
    const stopImmediatePropagation = () => undefined;
    const preventDefault = () => {
      defaultPrevented = true;
    };
    const event = { error, preventDefault, stopImmediatePropagation, defaultPrevented };
    Object.defineProperty(event, "defaultPrevented", { get: () => defaultPrevented });
    dispatch("error", event);
    if (!defaultPrevented) console.push(error.message);
  };
  const window = {
    fetch: (url: string) =>
      url === EDITS_PATH
        ? Promise.resolve({
            headers: new Headers({ [EDIT_AGE_HEADER]: String(age()), [EDIT_EFFECT_HEADER]: String(effectMs) }),
          })
        : new Promise<object>((resolve) => (render = () => resolve({ status: 200 }))),
    AbortSignal,
    ...{ hotContext: hot, Response: class {}, location: { origin: "http://localhost", reload: () => reloads++ } },
    ...{ history: { state: null, replaceState: () => undefined } },
    sessionStorage: {
      getItem: (key: string) => storage.get(key) ?? null,
      setItem: (key: string, value: unknown) => storage.set(key, String(value)),
    },
    ...{ Error, DOMException, setTimeout, clearTimeout, Date, reportError: dispatchError },
    console: { error: (...texts: unknown[]) => console.push(texts.join(" ")) },
    performance: { now: () => performance.now(), getEntriesByType: () => [{ requestStart: openedAt }] },
    addEventListener: (name: string, listener: (event: object) => void) =>
      listeners.set(name, [...(listeners.get(name) ?? []), listener]),
  };
  runInNewContext(script, window);
  return {
    fail(message: string, path = "/src/a.tsx") {
      const stack = `Error: ${message}\n    at A (http://localhost${path}?t=1:3:5)`;
      dispatchError(Object.assign(new Error(message), { stack }));
    },
    /** Rejects a promise that nothing awaits. */
    reject: (reason: unknown) => dispatch("unhandledrejection", { promise: {}, reason, defaultPrevented: false }),
    failToHydrate(message: string) {
      const detail = () => dispatchError(Object.assign(new Error(message), { stack: "" }));
      dispatch(HYDRATION_PROBLEM_EVENT, { detail, preventDefault: () => undefined });
    },
    failToUpdate(message: string) {
      let isPrevented = false;
      const preventDefault = () => {
        isPrevented = true;
      };
      dispatch(UPDATE_FAILURE_EVENT, { detail: message, preventDefault });
      if (!isPrevented) console.push(`[vite] ${message}`);
    },
    /** Edits a file: the server has detected it. */
    edit: () => {
      const editedAt = performance.now();
      age = () => performance.now() - editedAt;
    },
    console: () => console,
    reloads: () => reloads,
    update: (...paths: string[]) => updates.get("vite:beforeUpdate")?.({ updates: paths.map((path) => ({ path })) }),
    render: () => render(),
    cancelReload: () => dispatch("beforeunload", { defaultPrevented: true }),
    updateViews: () => dispatch(VIEWS_UPDATE_EVENT, {}),
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

  it("does not report that the browser has skipped a view transition, but other rejections", () => {
    const page = openPage();
    const reject = (message: string, name: string) =>
      page.reject(Object.defineProperty(new DOMException(message, name), "stack", { value: "" }));
    reject("Transition was aborted because of invalid state", "InvalidStateError");
    reject("Transition was skipped", "AbortError");
    reject("Transition was aborted because of timeout in DOM update", "TimeoutError");
    reject("The object is in an invalid state.", "InvalidStateError");
    vi.advanceTimersByTime(1_000);
    expect(page.reported()).toEqual(["The object is in an invalid state."]);
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

  it("withholds an exception of an update from the console until it is reported, and for good if the page is reloaded", async () => {
    const [reported, reloaded] = [openPage(), openPage()];
    for (const page of [reported, reloaded]) {
      page.update("/src/a.tsx");
      page.fail("of an update");
      await vi.advanceTimersByTimeAsync(300);
      expect(page.console()).toEqual([]);
    }
    reloaded.reload();
    for (const page of [reported, reloaded]) page.render();
    await vi.advanceTimersByTimeAsync(0);
    expect([reported.console(), reported.reported()]).toEqual([["of an update"], ["of an update"]]);
    expect([reloaded.console(), reloaded.reported()]).toEqual([[], []]);
  });

  it("withholds why Vite could not load an edited module, unless the page is not reloaded", async () => {
    const [reported, reloaded] = [openPage(), openPage()];
    for (const page of [reported, reloaded]) {
      page.failToUpdate("long before an update");
      page.update("/src/a.tsx");
      page.failToUpdate("Failed to reload /src/a.tsx");
      await vi.advanceTimersByTimeAsync(300);
      expect(page.console()).toEqual(["[vite] long before an update"]);
    }
    reloaded.reload();
    for (const page of [reported, reloaded]) page.render();
    await vi.advanceTimersByTimeAsync(0);
    expect(reported.console()).toEqual(["[vite] long before an update", "[vite] Failed to reload /src/a.tsx"]);
    expect(reloaded.console()).toEqual(["[vite] long before an update"]);
  });

  it("reloads a page that was requested shortly after an edit once no more edits follow, without an error", async () => {
    const page = openPage({ editAgeMs: 450, effectMs: 500 }); // Vite may have rendered it without the edit
    await vi.advanceTimersByTimeAsync(50);
    page.failToHydrate("other markup");
    await vi.advanceTimersByTimeAsync(40);
    page.edit();
    await vi.advanceTimersByTimeAsync(499);
    expect(page.reloads()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect([page.reloads(), page.reported(), page.console()]).toEqual([1, [], []]);
  });

  it("reloads such a page after at most 5 s if edits follow all the time", async () => {
    const page = openPage({ editAgeMs: 0, effectMs: 500 });
    page.failToHydrate("other markup");
    await vi.advanceTimersByTimeAsync(4_999);
    expect(page.reloads()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect([page.reloads(), page.reported()]).toEqual([1, []]);
  });

  it("reports other markup of a page that was requested after the last edit had taken effect", async () => {
    const page = openPage({ editAgeMs: 550, effectMs: 500 });
    await vi.advanceTimersByTimeAsync(50);
    page.failToHydrate("other markup");
    await vi.advanceTimersByTimeAsync(0);
    expect([page.reloads(), page.reported()]).toEqual([0, ["other markup"]]);
  });

  it("reloads an outdated page again after another page was loaded in between, which an edit of the server has caused", async () => {
    const storage = new Map<string, string>();
    const open = async () => {
      const page = openPage({ editAgeMs: 99, storage });
      await vi.advanceTimersByTimeAsync(100);
      page.failToHydrate("other markup");
      await vi.advanceTimersByTimeAsync(0);
      return page.reloads();
    };
    expect(await open()).toBe(1);
    openPage({ storage });
    expect(await open()).toBe(1);
    expect(await open()).toBe(0);
  });
});
