/** The search of docs/pages.md, which starts after a pause in typing, against the default limit of calls. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { singleLimit } from "#test/single-limit";
import { memoryRateStore } from "../../src/rate-limit/index.ts";

const [, documented = ""] =
  /setTimeout\(\(\) => find\(text\), (\d+)\)/.exec(readFileSync(join(repository, "docs/pages.md"), "utf8")) ?? [];
const PAUSE_MS = Number(documented);
const MINUTES = 5;

/** Returns the times of the searches of somebody who presses a key at each interval. */
function searchesOf(intervalMs: number): number[] {
  const keystrokes = Array.from({ length: Math.floor((MINUTES * 60_000) / intervalMs) }, (_, at) => at * intervalMs);
  return keystrokes.filter((_, at) => at === keystrokes.length - 1 || intervalMs > PAUSE_MS).map((ms) => ms + PAUSE_MS);
}

it("the documented search is never refused by the default limit, however fast somebody types", () => {
  expect(PAUSE_MS).toBeGreaterThan(0);
  for (let intervalMs = 20; intervalMs <= 3_000; intervalMs++) {
    const clock = { ms: 0 };
    const { take } = singleLimit(memoryRateStore({ now: () => clock.ms }), { calls: 120, seconds: 60 });
    const refused = searchesOf(intervalMs).filter((ms) => {
      clock.ms = ms;
      return take("somebody") !== 0;
    });
    expect(refused, `a keystroke each ${intervalMs} ms`).toEqual([]);
  }
});

it("a search at each keystroke would be refused", () => {
  const clock = { ms: 0 };
  const { take } = singleLimit(memoryRateStore({ now: () => clock.ms }), { calls: 120, seconds: 60 });
  const waits = Array.from({ length: 200 }, (_, key) => {
    clock.ms = key * 200;
    return take("somebody");
  });
  expect(waits.some((wait) => wait !== 0)).toBe(true);
});
