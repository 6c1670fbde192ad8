import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What waits for minutes and works for seconds: begun last, it would be waited for alone. */
const LONG = /tests\/(fault\/(bus|live-stalled|live-torture)|browser\/(dev|live-proxy))\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
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
          // After the unit tests: what they find is told first.
          sequence: { groupOrder: 1 },
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/**/fixtures/**"],
          // Browsers, builds and servers: two at once leave two cores some time, which what is told by the clock needs.
          expect: { poll: { timeout: 15_000 } },
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
