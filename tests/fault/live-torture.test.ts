/**
 * Two server processes behind an nginx, and readers that are disconnected repeatedly, while bus, servers and nginx are
 * killed, and the bus is frozen: every message is delivered, once and in order. `npm run torture` runs it at full size.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildLiveApp } from "#test/live-app";
import type { TestProject } from "#test/test-project";
import { type TortureResult, type TortureSize, torture } from "#test/torture";
import { type BusKind, startTortureEnvironment } from "#test/torture-environment";

const { TORTURE_SIZE, TORTURE_RUNS = "1", TORTURE_SEED = "1", TORTURE_BUS } = process.env;

const COMMON = { channels: 20, connectionMs: [20, 900] } as const;

const SIZES = {
  small: {
    ...COMMON,
    ...{ readers: 20, messages: 1_200, publishers: 10, pauseMs: 50, minRequestsPerReader: 7, maxFrozenMs: 1_500 },
  },
  // Frozen for longer than `publish` waits.
  full: {
    ...COMMON,
    ...{ readers: 60, messages: 5_000, publishers: 20, pauseMs: 100, minRequestsPerReader: 40, maxFrozenMs: 20_000 },
  },
} satisfies Record<string, TortureSize & { readonly maxFrozenMs: number }>;

const size = TORTURE_SIZE === "full" ? SIZES.full : SIZES.small;
const kinds = (["redis", "nats"] as const).filter((kind) => TORTURE_BUS === undefined || TORTURE_BUS === kind);
const seeds = Array.from({ length: Number(TORTURE_RUNS) }, (_, n) => Number(TORTURE_SEED) + n);

let project: TestProject;

beforeAll(async () => {
  project = await buildLiveApp();
});

afterAll(() => project?.remove());

async function run(kind: BusKind, seed: number): Promise<TortureResult> {
  const environment = await startTortureEnvironment(project, kind, size.maxFrozenMs);
  try {
    return await torture(size, environment, seed);
  } finally {
    expect(await environment.close(), "the exit codes of the processes").toEqual([0, 0]);
  }
}

/** At full size, a run uses the whole machine. */
const describeBuses = TORTURE_SIZE === "full" ? describe : describe.concurrent;

describeBuses.each(kinds)("a deployment with the bus %s", (kind) => {
  it.each(seeds)(
    "delivers every message to every reader, once and in order (seed %i)",
    { timeout: 300_000 },
    async (seed) => {
      const { faults, ...counts } = await run(kind, seed);
      if (TORTURE_SIZE) console.log(`${kind}, seed ${seed}: ${JSON.stringify(counts)}`);
      expect(faults.slice(0, 20)).toEqual([]);
      // The run contained as many faults and deliveries as intended.
      expect(counts.published).toBeGreaterThanOrEqual(size.messages + size.channels);
      expect(counts.unknown).toBeLessThan(size.messages / 2);
      expect(counts.delivered).toBeGreaterThan((size.messages * size.readers) / size.channels);
      expect(counts.aborted).toBeGreaterThan(size.readers * 3);
      expect(counts.failed).toBeGreaterThan(0);
    },
  );
});
