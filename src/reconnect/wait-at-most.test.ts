import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { waitAtMost } from "./wait-at-most.ts";

it("returns the result of the promise, and rejects with its error", async () => {
  expect(await waitAtMost(Promise.resolve("value"), 60_000, "late")).toBe("value");
  await expect(waitAtMost(Promise.reject(new Error("refused")), 60_000, "late")).rejects.toThrow("refused");
});

it("returns the other value if the promise is pending for longer", async () => {
  expect(await waitAtMost(new Promise(() => {}), 10, "late")).toBe("late");
});

it("keeps a process running that only waits, and no longer than it waits", () => {
  const program = `
    ${waitAtMost.toString()}
    await waitAtMost(Promise.resolve(), 2 ** 31 - 1, "late");
    console.log(await waitAtMost(new Promise(() => {}), 10, "late"));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
  expect([status, String(stdout), String(stderr)]).toEqual([0, "late\n", ""]);
});
