import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take long and use little CPU time. They are started first, so that other files run at the same time. */
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
          testTimeout: 30_000, // property-based tests take long on a busy machine
        },
      },
      {
        test: {
          name: "system",
          // Runs after the unit tests, because their failures are easier to understand.
          sequence: { groupOrder: 1 },
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/**/fixtures/**"],
          expect: { poll: { timeout: 15_000 } },
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2, // each file runs browsers, builds or servers; more files at a time would exceed timeouts
        },
      },
    ],
  },
});
