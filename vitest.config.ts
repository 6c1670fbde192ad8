import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["src/**/*.test.ts"] } },
      {
        test: {
          name: "system",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/**/fixtures/**"],
          // Browsers, builds and servers: they take a while, and two at once are enough for two cores.
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
