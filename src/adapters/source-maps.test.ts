import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { createPrepareStackTrace, mapStacks } from "./source-maps.ts";

const require = createRequire(import.meta.url);
const dir = mkdtempSync(join(tmpdir(), "tsweb-maps-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const fileUrl = (name: string) => pathToFileURL(join(dir, name)).href;
const prepare = createPrepareStackTrace(`${pathToFileURL(dir).href}/`);

/** A frame as V8 shows it, at a position of a file. */
const frame = (url: string, { line = 1, column = 1 } = {}) =>
  ({
    getScriptNameOrSourceURL: () => url,
    getLineNumber: () => line,
    getColumnNumber: () => column,
    toString: () => `async save (${url}:${line}:${column})`,
  }) as unknown as NodeJS.CallSite; // what the function reads of one

/** Line 1 is line 7, column 3 of the source. */
writeFileSync(
  join(dir, "app.mjs.map"),
  JSON.stringify({ version: 3, sources: ["../src/a.ts"], names: [], mappings: "AAME" }),
);
writeFileSync(join(dir, "broken.mjs.map"), "{");

const secondLine = (error: Error, frames: readonly NodeJS.CallSite[]) => prepare(error, frames).split("\n")[1];

describe("a stack of a built application", () => {
  it("names the locations of the source files, with what else V8 writes", () => {
    expect(secondLine(new Error("x"), [frame(fileUrl("app.mjs"))])).toBe(
      `    at async save (${join(dir, "../src/a.ts")}:7:3)`,
    );
  });

  it.each([
    ["of a file without a source map", fileUrl("other.mjs")],
    ["of a file whose source map is not valid", fileUrl("broken.mjs")],
    ["of a file outside of the build", "file:///srv/other/app.mjs"],
    ["of Node", "node:internal/process/task_queues"],
  ])("keeps a location %s", (_, url) =>
    expect(secondLine(new Error("x"), [frame(url)])).toBe(`    at async save (${url}:1:1)`),
  );

  it.each([
    [new TypeError("not a function"), "TypeError: not a function"],
    [Object.assign(new Error("x"), { name: "OrderError" }), "OrderError: x"],
    [new Error(""), "Error"],
    [
      errorOfNode(),
      'TypeError [ERR_INVALID_ARG_TYPE]: The "id" argument must be of type string. Received type number (1)',
    ],
    [unreadable(), "<error>"],
  ])("begins as Node begins it: %#", (error, header) => expect(prepare(error, [])).toBe(header));
});

it("maps the stacks of all errors, unless Node maps them itself", () => {
  const { prepareStackTrace } = Error;
  const { sourceMapsEnabled } = process;
  try {
    for (const isEnabled of [true, false]) {
      process.setSourceMapsEnabled(isEnabled);
      Error.prepareStackTrace = undefined as never; // as Node 20 starts
      mapStacks(`${pathToFileURL(dir).href}/`);
      expect(typeof Error.prepareStackTrace).toBe(isEnabled ? "undefined" : "function");
    }
  } finally {
    process.setSourceMapsEnabled(sourceMapsEnabled);
    Error.prepareStackTrace = prepareStackTrace;
  }
});

function errorOfNode(): Error {
  try {
    return require(1 as unknown as string); // refused by Node
  } catch (error) {
    return error as Error;
  }
}

function unreadable(): Error {
  return Object.defineProperty(new Error("x"), "message", {
    get() {
      throw new Error("unreadable");
    },
  });
}
