/**
 * Two server processes behind an nginx, readers that are cut off again and again, and bus, servers and nginx
 * killed in the middle: nothing lost, nothing twice, in order. `npm run torture` runs it at full size.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Site } from "#test/site";
import { type TortureResult, type TortureSize, torture } from "#test/torture";
import { type BusKind, buildTortureSite, openWorld } from "#test/torture-site";

const { TORTURE_SIZE, TORTURE_RUNS = "1", TORTURE_SEED = "1", TORTURE_BUS } = process.env;

const SHAPE = { channels: 20, readers: 60, visitMs: [20, 900] } as const;

const SIZES = {
  small: { ...SHAPE, messages: 2_000, publishers: 10, pauseMs: 50, visits: 12 },
  full: { ...SHAPE, messages: 5_000, publishers: 20, pauseMs: 100, visits: 40 },
} satisfies Record<string, TortureSize>;

const size = TORTURE_SIZE === "full" ? SIZES.full : SIZES.small;
const kinds = (["redis", "nats"] as const).filter((kind) => TORTURE_BUS === undefined || TORTURE_BUS === kind);
const seeds = Array.from({ length: Number(TORTURE_RUNS) }, (_, n) => Number(TORTURE_SEED) + n);

let site: Site;

beforeAll(async () => {
  site = await buildTortureSite();
});

afterAll(() => site?.remove());

async function run(kind: BusKind, seed: number): Promise<TortureResult> {
  const world = await openWorld(site, kind);
  try {
    return await torture(size, world, seed);
  } finally {
    expect(await world.close(), "how the processes ended").toEqual([0, 0]);
  }
}

describe.each(kinds)("over %s", (kind) => {
  it.each(seeds)("every reader gets all of it, once and in order (seed %i)", { timeout: 300_000 }, async (seed) => {
    const { faults, ...figures } = await run(kind, seed);
    if (TORTURE_SIZE) console.log(`${kind}, seed ${seed}: ${JSON.stringify(figures)}`);
    expect(faults.slice(0, 20)).toEqual([]);
    // It was as bad as it was meant to be.
    expect(figures.published).toBeGreaterThanOrEqual(size.messages + size.channels);
    expect(figures.unknown).toBeLessThan(size.messages / 4);
    expect(figures.delivered).toBeGreaterThan(size.messages * 3);
    expect(figures.cut).toBeGreaterThan(size.readers * 3);
    expect(figures.failed).toBeGreaterThan(0);
  });
});
