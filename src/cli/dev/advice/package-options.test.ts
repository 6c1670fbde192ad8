import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkPackageOptions } from "./error-messages.ts";

let root: string;
let logged: string[];
let watcher: EventEmitter;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tsweb-package-options-"));
  logged = [];
  watcher = new EventEmitter();
});
afterEach(() => rmSync(root, { recursive: true }));

async function write(text: string): Promise<void> {
  writeFileSync(join(root, "package.json"), text);
  watcher.emit("all", "change", join(root, "package.json"));
  await settled();
}

/** Waits until a check that has started has ended: it imports the code of the build. */
async function settled(): Promise<void> {
  await import("../../build/index.ts");
  await new Promise(setImmediate);
}

async function start() {
  const { configureServer } = checkPackageOptions(root, (message) => logged.push(message));
  if (typeof configureServer !== "function") throw new Error("The plugin has no configureServer hook.");
  const startServer = configureServer as unknown as (server: { watcher: EventEmitter }) => Promise<void>; // all that it uses
  await startServer({ watcher });
  return { restart: () => startServer({ watcher: new EventEmitter() }) };
}

const UNKNOWN = '{ "tsweb": { "includes": ["drizzle/**"] } }';

describe("at its start, the development server reports", () => {
  it.each([
    [UNKNOWN, 'package.json:1:14\n"tsweb" has the unknown member "includes". Did you mean "include"?'],
    ['{ "tsweb": { "include": "drizzle/**" } }', '"include" is "drizzle/**". Expected'],
    ['{ "tsweb": { "include": ["../secrets"] } }', "which may leave the project's folder."],
    ['{ "tsweb": { "budget": "20kb" } }', '"budget" is "20kb". Expected'],
    ['{ "tsweb": { "budget": { "script": "20kb" } } }', '"script" of "budget" is "20kb", which is not a size.'],
    ['{ "tsWeb": {} }', 'the member is "tsWeb".'],
  ])("the error of package.json that the build would report: %s", async (text, message) => {
    await write(text);
    await start();
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain(message);
    expect(logged[0]).toContain("tsweb build fails until it is corrected.");
  });

  it.each(["{}", '{ "tsweb": { "include": ["missing/**"], "budget": { "script": "20 kB" } } }'])(
    "nothing about a valid package.json: %s",
    async (text) => {
      await write(text);
      await start();
      expect(logged).toEqual([]);
    },
  );

  it("nothing without a package.json", async () => {
    await start();
    expect(logged).toEqual([]);
  });
});

describe("after an edit of package.json, the development server", () => {
  it("reports a new error, and the same error once until it is corrected", async () => {
    await write("{}");
    const { restart } = await start();
    await write(UNKNOWN);
    expect(logged).toHaveLength(1);
    await write(`${UNKNOWN}\n`);
    await restart();
    expect(logged).toHaveLength(1);
    await write("{}");
    await write(UNKNOWN);
    expect(logged).toHaveLength(2);
  });

  it("does not read it again after an edit of another file", async () => {
    await start();
    writeFileSync(join(root, "package.json"), UNKNOWN);
    watcher.emit("all", "change", join(root, "packages", "package.json"));
    watcher.emit("all", "change", join(root, "app.ts"));
    await settled();
    expect(logged).toEqual([]);
  });
});
