/**
 * Live queries on three processes: writers change a database, and viewers are disconnected repeatedly and resume on other processes,
 * while processes and the bus are killed and frozen. Afterwards every viewer shows what the database contains, and no value went
 * back. `npm run torture -- queries` runs it at full size.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildQueryTortureApp } from "#test/query-torture-app";
import { runQueryTorture } from "#test/query-torture-environment";
import type { TestProject } from "#test/test-project";

const { TORTURE_SIZE, TORTURE_RUNS = "1", TORTURE_SEED = "1", TORTURE_BUS } = process.env;

const SIZES = {
  small: {
    size: { boards: 3, viewers: 6, writers: 4, writes: 24, pauseMs: 30 },
    ...{ calmRounds: 1, faultRounds: 1, maxFrozenMs: 1_500 },
  },
  // Frozen for longer than a process waits for the bus.
  full: {
    size: { boards: 4, viewers: 36, writers: 8, writes: 120, pauseMs: 50 },
    ...{ calmRounds: 1, faultRounds: 2, maxFrozenMs: 4_000 },
  },
};

const options = TORTURE_SIZE === "full" ? SIZES.full : SIZES.small;
const kinds = (["redis", "nats"] as const).filter((kind) => TORTURE_BUS === undefined || TORTURE_BUS === kind);
const seeds = Array.from({ length: Number(TORTURE_RUNS) }, (_, n) => Number(TORTURE_SEED) + n);

let project: TestProject;

beforeAll(async () => {
  project = await buildQueryTortureApp();
});
afterAll(() => project?.remove());

/** At full size, a run uses the whole machine. */
const describeBuses = TORTURE_SIZE === "full" ? describe : describe.concurrent;

describeBuses.each(kinds)("live queries over the bus %s", (bus) => {
  it.each(seeds)(
    "show what the database contains, and never an older value (seed %i)",
    { timeout: 300_000 },
    async (seed) => {
      const { faults, ...counts } = await runQueryTorture(project, { ...options, bus, seed });
      if (TORTURE_SIZE)
        console.log(`${bus}, seed ${seed}: ${JSON.stringify({ ...counts, faults: faults.slice(0, 5) })}`);
      expect(faults.slice(0, 20)).toEqual([]);
      // The run contained as many changes, values and lost connections as intended.
      const rounds = options.calmRounds + 2 * options.faultRounds;
      expect(counts.writes).toBeGreaterThanOrEqual(rounds * options.size.writes);
      expect(counts.repeated).toBeGreaterThan(0);
      expect(counts.values).toBeGreaterThan(options.size.viewers * 20);
      expect(counts.ended).toBeGreaterThan(options.size.viewers * 2);
      expect(counts.failed).toBeGreaterThan(0);
    },
  );
});
