import { expect, it } from "vitest";
import { applicationFrames } from "./stack-frames.ts";

/** Returns the frames of a stack without their indentation. */
function framesOf(...lines: readonly string[]): string[] {
  const stack = ["Error: at home", ...lines.map((line) => `    at ${line}`)].join("\n");
  return applicationFrames(stack, "/app").frames.map((line) => line.trim().slice("at ".length));
}

it.each([
  "load (/app/src/a.ts:3:7)",
  "async load (/app/src/a.ts:3:7)",
  "/app/src/a.ts:3:7",
  "async /app/src/a.ts:3:7",
  "file:///app/src/a.ts:3:7",
  "load (file:///app/src/a.ts:3:7)",
  "Object.load [as run] (/app/my files/a.ts:3:7)",
  "new Order (C:\\app\\src\\a.ts:3:7)",
])("keeps the frame of the application: %s", (frame) => {
  expect(framesOf(frame)).toEqual([frame]);
});

it.each([
  "process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
  "node:internal/main/run_main_module:28:49",
  "async node:internal/modules/esm/loader:1:2",
  "Array.map (<anonymous>)",
  "renderToString (/app/node_modules/preact-render-to-string/dist/index.mjs:1:2)",
])("leaves out the frame of Node and of the framework: %s", (frame) => {
  expect(framesOf(frame)).toEqual([]);
});

it("keeps the frames of packages only if there are no others", () => {
  const inPackage = "pick (/app/node_modules/lodash/index.js:1:2)";
  expect(framesOf(inPackage, "load (/app/src/a.ts:3:7)")).toEqual(["load (/app/src/a.ts:3:7)"]);
  expect(framesOf(inPackage)).toEqual([inPackage]);
});

it("returns the position of the first frame in a file of the application", () => {
  const stack = "Error: x\n    at f (/other/b.ts:1:1)\n    at g (/app/src/a.ts:3:7)\n    at h (/app/src/c.ts:9:9)";
  expect(applicationFrames(stack, "/app").position).toEqual({ file: "/app/src/a.ts", line: 3, column: 7 });
});
