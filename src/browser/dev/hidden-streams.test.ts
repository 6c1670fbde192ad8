import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Stream } from "../../protocol/index.ts";
import { checkHiddenStream } from "./hidden-streams.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

const warnings = () => vi.mocked(reportWarning).mock.calls.map(([{ message }]) => message);

/** The names of the locks that are held: those of tabs of the browser. */
let held: { readonly name: string }[];
let page: EventTarget & { hidden: boolean };

beforeEach(() => {
  vi.mocked(reportWarning).mockClear();
  held = [];
  page = Object.assign(new EventTarget(), { hidden: true });
  vi.stubGlobal("document", page);
  useProtocol("http/1.1");
  vi.stubGlobal("navigator", {
    locks: {
      async request(name: string, _: LockOptions, callback: () => Promise<unknown>) {
        const lock = { name };
        held.push(lock);
        await callback();
        held.splice(held.indexOf(lock), 1);
      },
      query: async () => ({ held }),
    },
  });
});

afterEach(() => vi.unstubAllGlobals());

/** The clock stays: other code of this process reads it. */
function useProtocol(nextHopProtocol: string): void {
  vi.stubGlobal("performance", {
    now: performance.now.bind(performance),
    getEntriesByType: () => [{ nextHopProtocol }],
  });
}

/** Starts reading an endless stream. Returns a function that stops. */
async function read(name = "count"): Promise<() => Promise<unknown>> {
  const stream: Stream<unknown> = {
    cancel() {},
    async *[Symbol.asyncIterator]() {
      for (let n = 0; ; n++) yield n;
    },
  };
  checkHiddenStream(name, stream);
  const values = stream[Symbol.asyncIterator]();
  expect(await values.next()).toEqual({ value: 0, done: false });
  await settle();
  return () => Promise.resolve(values.return?.()).then(settle);
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

function show(isShown: boolean): Promise<unknown> {
  page.hidden = !isShown;
  page.dispatchEvent(new Event("visibilitychange"));
  return settle();
}

test("the fifth streaming call that hidden tabs hold on HTTP/1.1 is reported", async () => {
  held.push({ name: "another" });
  for (let n = 0; n < 4; n++) await read();
  expect(warnings()).toEqual([]);
  await read("watch");
  expect(warnings()).toEqual([
    "Hidden tabs of this browser hold 5 streaming calls, the last one of watch. A browser has six connections to a site on HTTP/1.1, so a further one stops all pages of the site. Cancel the stream while document.hidden is true, or use channel() and subscribe(): all tabs share one connection for them. With a proxy that serves HTTP/2, this limit does not exist.",
  ]);
});

test("streams that have ended, and those of a visible tab, are not counted", async () => {
  for (let n = 0; n < 4; n++) await (await read())();
  expect(held).toEqual([]);
  await show(true);
  for (let n = 0; n < 5; n++) await read();
  expect([held, warnings()]).toEqual([[], []]);
  await show(false);
  expect([held.length, warnings().length > 0]).toEqual([5, true]);
  await show(true);
  expect(held).toEqual([]);
});

test("streams on HTTP/2 are not reported", async () => {
  useProtocol("h2");
  for (let n = 0; n < 6; n++) await read();
  expect(warnings()).toEqual([]);
});
