import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes and little CPU time. Started last, they would run alone at the end. */
const SLOW_FILES = /tests\/(fault\/(bus|live-stalled|live-torture)|browser\/(dev|live-proxy))\.test\.ts$/;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => SLOW_FILES.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts"],
          sequence: { groupOrder: 0 },
          expect: { poll: { timeout: 15_000 } },
          testTimeout: 30_000, // tests that make up their input take a while on a busy machine
        },
      },
      {
        test: {
          name: "system",
          // After the unit tests, whose failures are easier to read.
          sequence: { groupOrder: 1 },
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/**/fixtures/**"],
          // Browsers, builds and servers: with more than two at a time, two cores are too slow for tests with timeouts.
          expect: { poll: { timeout: 15_000 } },
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
