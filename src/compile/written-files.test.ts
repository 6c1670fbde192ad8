import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { ModuleCache } from "./module-cache.ts";
import { untilWritten } from "./written-files.ts";

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tsweb-written-"));
  file = join(dir, "a.ts");
  onTestFinished(() => rmSync(dir, { recursive: true }));
});

it("waits until a file that was just emptied is written", async () => {
  let hasReturned = false;
  writeFileSync(file, "");
  const waiting = untilWritten(file).then(() => {
    hasReturned = true;
  });
  await new Promise((resolve) => process.nextTick(resolve));
  expect(hasReturned).toBe(false);
  writeFileSync(file, "export {};");
  await waiting;
});

it("does not wait for a file that stays empty, was emptied long ago or in the future, or does not exist", async () => {
  writeFileSync(file, "");
  await untilWritten(file);
  for (const time of [new Date(0), new Date("2100-01-01")]) {
    utimesSync(file, time, time);
    await untilWritten(file);
  }
  await untilWritten(join(dir, "missing.ts"));
  await untilWritten(join(file, "below-a-file.ts")); // the test ends after 60 seconds if this waits for ever
});

it("a module that another one imports is read once it is written, also if it was read while it was empty", async () => {
  const modules = new ModuleCache(dir, { isNotified: true });
  writeFileSync(file, "");
  expect(modules.readIfValid(file)?.exports.named).toEqual([]);
  const reading = modules.readWritten(file);
  writeFileSync(file, "export const one = 1;");
  expect((await reading)?.exports.named.map(({ name }) => name)).toEqual(["one"]);
});
