import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createServer } from "vite";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { EnvFiles } from "../../project/index.ts";
import { completeEdits, reportEdits } from "./file-watching.ts";
import { Restarts } from "./restart.ts";

let dir: string;
let file: string;
let watcher: EventEmitter;
let modules: Map<string, unknown>;
let events: string[];
/** The names of the files that the watcher watches. */
let watched: string[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tsweb-watching-"));
  file = join(dir, "words.ts");
  writeFileSync(file, "old");
  modules = new Map();
  events = [];
});

afterEach(() => {
  vi.useRealTimers();
  Object.assign(watcher, { closed: true });
  rmSync(dir, { recursive: true });
});

/**
 * Starts the check with a watcher that reports nothing by itself, as chokidar while it reads the folders.
 *
 * @param read is called while Vite reads its config
 */
async function start(
  read: () => void | Promise<void> = () => {},
  configFileDependencies: readonly string[] = [],
): Promise<void> {
  await wait(50); // the files are older than the server, by the clock of the file system
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  watched = [basename(file)];
  watcher = Object.assign(new EventEmitter(), {
    closed: false,
    getWatched: () => ({ [dirname(file)]: watched }),
    add: (path: string) => path.includes("ignored") || watched.push(basename(path)),
  });
  watcher.on("all", (event: string, path: string) => events.push(`${event} ${basename(path)}`));
  const { configureServer } = completeEdits({ root: dir, envFiles: new EnvFiles(dir, {}), restarts: new Restarts() });
  if (typeof configureServer !== "function") throw new Error("The plugin has no configureServer hook.");
  await read();
  Reflect.apply(configureServer, undefined, [
    {
      watcher,
      environments: { ssr: { moduleGraph: { fileToModulesMap: modules } } },
      config: { root: dir, server: { watch: {} }, configFileDependencies },
    },
  ]);
}

/** Lets the server compare the files with what Vite was notified of, more often than is needed. */
const check = () => vi.advanceTimersByTime(3_000);

const load = () => modules.set(file, new Set([{}]));

it("notifies Vite of a file that was edited after its module was loaded, before the watcher was ready", async () => {
  await start();
  load();
  writeFileSync(file, "new");
  check();
  expect(events).toEqual(["change words.ts"]);
});

it("notifies Vite of a file that was edited before its first check, and loaded after the watcher was ready", async () => {
  await start();
  writeFileSync(file, "new");
  watcher.emit("ready");
  load();
  check();
  expect(events).toEqual(["change words.ts"]);
});

it("notifies Vite of a file that was edited before its first check, and that the ready watcher has missed", async () => {
  await start();
  watcher.emit("ready");
  await wait(50);
  load();
  writeFileSync(file, "new");
  check();
  expect(events).toEqual(["change words.ts"]);
});

it("does not notify Vite of files that are older than the server, or that the watcher ignores", async () => {
  await start();
  load();
  check();
  const ignored = join(dir, "ignored.ts");
  writeFileSync(ignored, "created");
  modules.set(ignored, new Set([{}]));
  check();
  expect(events).toEqual([]);
});

it("notifies Vite of edits of a file that the watcher has lost, and adds it to the watcher", async () => {
  await start();
  load();
  check();
  watched = [];
  writeFileSync(file, "new");
  check();
  expect(events).toEqual(["change words.ts"]);
  expect(watched).toEqual(["words.ts"]);
});

it("Vite's watcher accepts a file that it has lost, and none that the config ignores", async () => {
  await start();
  writeFileSync(join(dir, "ignored.ts"), "");
  const watch = { ignored: ["**/ignored.ts"] };
  const vite = await createServer({ root: dir, configFile: false, server: { middlewareMode: true, ws: false, watch } });
  onTestFinished(() => vite.close());
  const watchedFiles = () => vite.watcher.getWatched()[dir] ?? [];
  await expect.poll(watchedFiles).toContain("words.ts");
  vite.watcher.unwatch(file);
  expect(watchedFiles()).not.toContain("words.ts");
  vite.watcher.add([file, join(dir, "ignored.ts")]);
  await expect.poll(watchedFiles).toContain("words.ts");
  expect(watchedFiles()).not.toContain("ignored.ts");
});

it("does not add a file to the watcher that was deleted", async () => {
  await start();
  load();
  check();
  watched = [];
  rmSync(file);
  check();
  expect(events).toEqual([]);
  expect(watched).toEqual([]);
});

it("does not notify Vite twice of an edit that the watcher has reported before it was ready", async () => {
  await start();
  load();
  writeFileSync(file, "new");
  watcher.emit("all", "change", file);
  check();
  expect(events).toEqual(["change words.ts"]);
});

it("notifies Vite of an edit that the watcher misses later, and sets the modification time back", async () => {
  await start();
  load();
  check();
  watcher.emit("ready");
  writeFileSync(file, "new");
  utimesSync(file, new Date(0), new Date(0));
  check();
  expect(events).toEqual(["change words.ts"]);
});

it.each([".env", "vite.config.ts", "tsconfig.json"])(
  "notifies Vite of an edit of %s while Vite reads its config, before its watcher exists",
  async (name) => {
    await start(() => writeFileSync(join(dir, name), "{}"));
    check();
    expect(events).toEqual([`add ${name}`]);
  },
);

it("notifies Vite of an edit of a file that the config imports, while Vite reads the config", async () => {
  const [edited, other] = [join(dir, "edited.mjs"), join(dir, "other.mjs")];
  for (const name of [edited, other]) writeFileSync(name, "old");
  const read = async () => {
    await wait(50); // the clock of the file system may be behind
    writeFileSync(edited, "new");
  };
  await start(read, [edited, other]);
  check();
  expect(events).toEqual(["change edited.mjs"]);
});

it("reports an edit once if the watcher reports it twice, and each further one", async () => {
  await start();
  const edits = new EventEmitter();
  const { configureServer } = reportEdits(edits, new EnvFiles(dir, {}));
  if (typeof configureServer !== "function") throw new Error("The plugin has no configureServer hook.");
  Reflect.apply(configureServer, undefined, [{ watcher, environments: {}, config: { root: dir } }]);
  const reported = vi.fn();
  edits.on("all", reported);
  const counts = [() => writeFileSync(file, "new"), () => writeFileSync(file, "newer"), () => rmSync(file)].map(
    (edit) => {
      edit();
      watcher.emit("all", "change", file);
      watcher.emit("all", "change", file);
      return reported.mock.calls.length;
    },
  );
  expect(counts).toEqual([1, 2, 3]);
});
