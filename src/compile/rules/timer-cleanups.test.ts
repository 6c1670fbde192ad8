import { describe, expect, test } from "vitest";
import { readTestModule } from "#test/in-memory-modules";
import { timerWarnings } from "./timer-cleanups.ts";

const HEAD =
  'import { on_mount, view } from "tsweb/browser"; import { useEffect } from "preact/hooks"; import { every } from "./a.ts";\n';

const warningsOf = (statement: string) =>
  timerWarnings(readTestModule("src/a.tsx", `${HEAD}export const A = view(() => {\n${statement}\nreturn <p />;\n});`), {
    root: "/app",
  });

describe("the number of an interval that is returned as a cleanup", () => {
  test.each([
    "on_mount(() => setInterval(tick, 1000));",
    "on_mount(() => window.setInterval(tick, 1000));",
    "on_mount(function () { return setInterval(tick, 1000); });",
    "on_mount(() => { tick(); return (setInterval(tick, 1000) as any); });",
  ])("is a warning with the fix: %s", (statement) => {
    expect(warningsOf(statement)).toEqual([
      "src/a.tsx:3 returns the number of an interval to on_mount, which nothing stops. Return a function that stops it: " +
        "`on_mount(() => { const timer = setInterval(…); return () => clearInterval(timer); })`.",
    ]);
  });

  test("is a warning for useEffect, and names the line of each call", () => {
    expect(warningsOf("useEffect(\n() => setInterval(tick, 1), []);\non_mount(() => setInterval(tick, 2));")).toEqual([
      expect.stringMatching(/^src\/a\.tsx:4 returns the number of an interval to useEffect.*\}, \[…\]\)`\.$/),
      expect.stringMatching(/^src\/a\.tsx:5 .* to on_mount/),
    ]);
  });

  test.each([
    "on_mount(() => { const timer = setInterval(tick, 1000); return () => clearInterval(timer); });",
    "on_mount(() => { setInterval(tick, 1000); });",
    "on_mount(() => setTimeout(tick, 1000));",
    "on_mount(() => every.setInterval(tick, 1000));",
    "on_mount(() => every(() => setInterval(tick, 1000)));",
    "const setInterval = every; on_mount(() => setInterval(tick, 1000));",
    "on_mount(async () => setInterval(tick, 1000));",
    "const on_mount = every; on_mount(() => setInterval(tick, 1000));",
    "every(() => setInterval(tick, 1000));",
  ])("is absent in: %s", (statement) => {
    expect(warningsOf(statement)).toEqual([]);
  });
});
