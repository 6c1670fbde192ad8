import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
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
          // Browsers, builds and servers: they take a while, and two at once are enough for two cores.
          expect: { poll: { timeout: 15_000 } },
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
