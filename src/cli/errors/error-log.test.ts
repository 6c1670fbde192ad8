import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorLog } from "./error-log.ts";

let root: string;
let lines: string[];
let log: ErrorLog;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tsweb-errors-"));
  writeFileSync(join(root, "guests.ts"), "one\ntwo\nthree();\n");
  lines = [];
  log = new ErrorLog(root, (text) => lines.push(text));
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(root, { recursive: true, force: true });
});

/** Returns an error with a stack, as Node and Vite's runner write it. */
function errorAt(message: string, ...frames: readonly string[]): Error {
  const error = new Error(message);
  error.stack = [`Error: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join("\n");
  return error;
}

const thrown = (message = "No ink") =>
  errorAt(
    message,
    "sign (node:internal/x:1:1)",
    `sign (${root}/guests.ts:3:1)`,
    `run (${root}/node_modules/a/b.js:1:2)`,
  );

describe("an error", () => {
  it("is printed with its location in the project and its source lines, without the stack", () => {
    log.print(thrown(), "The call of sign failed");
    expect(lines).toEqual([
      "\nThe call of sign failed\nError: No ink\nguests.ts:3:1\n" +
        "     1 | one\n     2 | two\n>    3 | three();\n       | ^\n     4 |\n",
    ]);
  });

  it("that repeats is printed once, and in one line for each further event", () => {
    log.print(thrown());
    log.print(thrown());
    expect(lines).toHaveLength(1);
    log.print(thrown(), "The call of sign failed");
    expect(lines.at(-1)).toBe("The call of sign failed  (Error: No ink, as shown above)");
  });

  it("is printed again after an edit, and once if further files change at once", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    log.print(thrown());
    log.handleEdit();
    log.print(thrown());
    vi.advanceTimersByTime(400);
    log.handleEdit();
    log.print(thrown());
    expect(lines).toHaveLength(2);
    vi.advanceTimersByTime(600);
    log.handleEdit();
    log.print(thrown());
    expect(lines).toHaveLength(3);
  });

  it("has its location from its cause, if it has none itself", () => {
    const error = errorAt("Cannot start view GuestBook", `hydrate (${root}/node_modules/tsweb/dist/a.js:1:1)`);
    error.cause = thrown();
    log.print(error);
    expect(lines.join()).toContain("Error: Cannot start view GuestBook\nCaused by Error: No ink\nguests.ts:3:1\n");
  });

  it("whose cause has the same words is printed once, with its location", () => {
    log.print(new Error("No ink", { cause: new Error("No ink", { cause: thrown() }) }));
    expect(lines.join("\n").match(/No ink/g)).toHaveLength(1);
    expect(lines.join("\n")).toContain("guests.ts:3:1");
  });

  it("whose cause is the error itself is printed", () => {
    const error = thrown();
    error.cause = error;
    log.print(error);
    expect(lines.join()).toContain("Error: No ink\nguests.ts:3:1");
  });

  it("of a package alone is printed with the frames of the package", () => {
    log.print(errorAt("No database", `connect (${root}/node_modules/pg/a.js:1:2)`, "emit (node:events:5:2)"));
    expect(lines).toEqual(["\nError: No database\n    at connect (node_modules/pg/a.js:1:2)\n"]);
  });

  it("has no code frame of compiled code, but the lines of the file", () => {
    const frame = "2  |  two\n3  |  _jsxDEV(three)\n   |  ^";
    log.print(Object.assign(new Error("Not found"), { loc: { file: `${root}/guests.ts`, line: 3, column: 0 }, frame }));
    expect(lines.join()).toContain("guests.ts:3:1\n     1 | one\n");
  });

  it("has the code frame that it came with, if it is one of the file", () => {
    const frame = "2  |  two\n3  |  three();\n   |  ^^^^^";
    log.print(Object.assign(new Error("Not found"), { loc: { file: `${root}/guests.ts`, line: 3, column: 0 }, frame }));
    expect(lines.join()).toContain(`guests.ts:3:1\n${frame}`);
  });

  it("cannot control the terminal [DEV-20]", () => {
    log.print(errorAt("\u001b]0;title\u0007\u009b2J\rNo ink"));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be absent
    expect(lines.join()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(lines.join()).toContain("No ink");
  });
});
