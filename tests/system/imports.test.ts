/** `npm run imports`, on this repository and on a copy of the folders of src/ that breaks every rule once. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";

/** Each violation: its description, the file that it is written to, the text, and the rule that has to be reported. */
const VIOLATIONS = [
  [
    "a value behind an entry point",
    "rpc/a.ts",
    'import { x } from "../session/inner.ts"; x;',
    "entry point of session",
  ],
  [
    "a type behind an entry point",
    "rpc/b.ts",
    'import type { X } from "../session/inner.ts"; let x: X;',
    "entry point of session",
  ],
  [
    "a type by import() behind an entry point",
    "rpc/c.ts",
    'export type Y = import("../session/inner.ts").X;',
    "entry point of session",
  ],
  [
    "a dynamic import behind an entry point",
    "rpc/d.ts",
    'await import("../session/inner.ts");',
    "entry point of session",
  ],
  ["a re-export behind an entry point", "rpc/e.ts", 'export * from "../session/inner.ts";', "entry point of session"],
  [
    "a unit test that imports behind another folder's entry point",
    "rpc/f.test.ts",
    'import "../session/inner.ts";',
    "entry point of session",
  ],
  [
    "an import behind a nested folder's entry point",
    "backends/a.ts",
    'import "./redis/bus.ts";',
    "entry point of backends/redis",
  ],
  ["a folder that the table does not allow", "auth/a.ts", 'import { x } from "../rpc/index.ts"; x;', "imports of auth"],
  [
    "a folder of the server in browser/",
    "browser/a.ts",
    'import type { Y } from "../rpc/index.ts"; let y: Y;',
    "imports of browser",
  ],
  [
    "a value where only types are allowed",
    "observe/a.ts",
    'import { x } from "../live/index.ts"; x;',
    "only types of live in observe",
  ],
  [
    "a node: module in browser/",
    "browser/b.ts",
    'import { Buffer } from "node:buffer"; Buffer;',
    "node: modules in browser",
  ],
  [
    "a type of a node: module in protocol/",
    "protocol/a.ts",
    'import type { A } from "node:stream"; let a: A;',
    "node: modules in protocol",
  ],
  [
    "a value of preact in protocol/",
    "protocol/b.ts",
    'import { h } from "preact"; h;',
    "only types of preact in protocol",
  ],
  ["another package in browser/", "browser/c.ts", 'import { parse } from "cookie"; parse;', "packages in browser"],
  ["tests/ in a source file", "http/a.ts", 'import "#test/copy-example";', "only tests import tests/support"],
  [
    "tests/ by a relative path in a test",
    "http/b.test.ts",
    'import "../../tests/support/copy-example.ts";',
    "tests import tests/support as #test/*",
  ],
  ["an import of a test", "http/c.ts", 'import "./b.test.ts";', "no import of a test"],
  [
    "a cycle that only types close",
    "session/inner.ts",
    'import type { S } from "./outer.ts"; export const x = 1; export type X = S;',
    "no cycles",
  ],
] as const;

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "imports-"));
  for (const name of ["tests/support", "package.json", "tsconfig.json", "CONTRIBUTING.md"]) {
    cpSync(join(repository, name), join(copy, name), { recursive: true });
  }
  // Only the entry points, without their text: to read the whole of src/ again takes 15 seconds.
  for (const file of readdirSync(join(repository, "src"), { recursive: true, encoding: "utf8" })) {
    if (basename(file) === "index.ts") write(`src/${file}`, "export const x = 1; export type Y = string;");
  }
  write("src/backends/redis/bus.ts", "export {};");
  // The packages that the violations import.
  cpSync(join(repository, "node_modules", "preact"), join(copy, "node_modules", "preact"), { recursive: true });
  cpSync(join(repository, "node_modules", "cookie"), join(copy, "node_modules", "cookie"), { recursive: true });
});

afterAll(() => rmSync(copy, { recursive: true }));

/** Runs the check on a copy of the repository. */
function check(root: string) {
  const script = join(repository, "scripts", "imports.mjs");
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, "--root", root], { encoding: "utf8" });
  return { status, stderr, stdout };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), `${text}\n`);
}

describe("the check of imports", () => {
  it("reports no problem in src/", () => {
    expect(check(repository)).toEqual({ status: 0, stderr: "", stdout: expect.stringContaining("0 problems") });
  });

  it("reports every forbidden import, the rule that it breaks, how to fix it, and a graph in CONTRIBUTING.md that differs", () => {
    for (const [, file, text] of VIOLATIONS) write(`src/${file}`, text);
    write("src/session/outer.ts", 'import { x } from "./inner.ts"; export type S = typeof x;');
    write("src/helpers/index.ts", "export const helper = 1;");
    const document = readFileSync(join(copy, "CONTRIBUTING.md"), "utf8");
    expect(document).toMatch(/\bindex\.ts --> /);
    write("CONTRIBUTING.md", document.replace(/\bindex\.ts --> /, "other.ts --> "));
    const { status, stderr } = check(copy);
    expect(status).toBe(1);
    for (const [what, file, , rule] of VIOLATIONS) {
      const reports = stderr.split("\n\n").filter((report) => report.startsWith(`src/${file} → `));
      expect(
        reports.some((report) => report.includes(`Rule: ${rule}\n    Fix: `)),
        `${what}:\n${reports.join("\n")}`,
      ).toBe(true);
    }
    expect(stderr).toContain("src/helpers/index.ts belongs to no part of src/.");
    expect(stderr).toContain("CONTRIBUTING.md shows other arrows");
  });
});
