import fc from "fast-check";
import { expect, test } from "vitest";
import { BUILD_VERSION } from "../../protocol/index.ts";
import { buildTimeMs, createBuildId } from "./kept-assets.ts";

const NOW = Date.UTC(2026, 10, 22);

test("an id has 13 base-36 digits, as the header of a call needs them", () => {
  expect(`${createBuildId()}.Ab_-09`).toMatch(BUILD_VERSION);
  expect(buildTimeMs(createBuildId("", NOW))).toBe(NOW);
});

test("ids are ordered by the time of the build", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 45), fc.integer({ min: 1, max: 2 ** 40 }), (time, later) => {
      expect(createBuildId("", time) < createBuildId("", time + later)).toBe(true);
    }),
  );
});

test("an id is greater than that of the earlier build, also if the clock of its machine was ahead", () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), (difference) => {
      const earlier = createBuildId("", NOW + difference);
      expect(createBuildId(earlier, NOW) > earlier).toBe(true);
    }),
  );
});

test("two builds of the same millisecond have different ids", () => {
  const ids = new Set(Array.from({ length: 20 }, () => createBuildId("", NOW)));
  expect(ids.size).toBeGreaterThan(15);
});
