import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { holdBackEmptyFiles } from "./file-watching.ts";

let dir: string;
let file: string;
let watcher: EventEmitter;
let events: string[];

beforeEach(() => {
  vi.useFakeTimers();
  dir = mkdtempSync(join(tmpdir(), "tsweb-empty-"));
  file = join(dir, "words.ts");
  events = [];
  watcher = new EventEmitter();
  holdBackEmptyFiles(watcher);
  for (const event of ["add", "change", "unlink"]) watcher.on(event, () => events.push(event));
  watcher.on("all", (event: string) => events.push(`all ${event}`));
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(dir, { recursive: true });
});

/** Reports an event as chokidar does. */
function report(event: string): void {
  watcher.emit(event, file);
  watcher.emit("all", event, file);
}

it("reports edits of files with content, and deleted files, at once", () => {
  writeFileSync(file, "new");
  for (const event of ["add", "change", "unlink"]) report(event);
  rmSync(file);
  report("unlink");
  expect(events).toEqual(["add", "all add", "change", "all change", "unlink", "all unlink", "unlink", "all unlink"]);
});

it("reports a file that is empty while it is being written once it has content", () => {
  writeFileSync(file, "");
  report("change");
  expect(events).toEqual([]);
  writeFileSync(file, "new");
  vi.runAllTimers();
  expect(events).toEqual(["change", "all change"]);
});

it("delays both events of an edit, although the file has content when the second is emitted", () => {
  writeFileSync(file, "");
  watcher.emit("change", file);
  writeFileSync(file, "new");
  watcher.emit("all", "change", file);
  expect(events).toEqual([]);
  vi.runAllTimers();
  expect(events).toEqual(["change", "all change"]);
});

it("reports a file that stays empty, shortly after", () => {
  writeFileSync(file, "");
  report("add");
  expect(events).toEqual([]);
  vi.runAllTimers();
  expect(events).toEqual(["add", "all add"]);
});
