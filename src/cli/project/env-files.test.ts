import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EnvFiles } from "./env-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tsweb-env-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

/** Loads the files over a real environment. Returns the environment. */
function load(real: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  new EnvFiles(folder, real).load();
  return real;
}

describe("the variables of .env and .env.local", () => {
  it("are set in the environment, and those of .env.local take precedence", () => {
    write(".env", "A=1\nB=1\n");
    write(".env.local", "B=2\nC=2\n");
    expect(load()).toEqual({ A: "1", B: "2", C: "2" });
  });

  it("do not replace a variable of the real environment, also not an empty one", () => {
    write(".env", "A=file\nB=file\nC=file\n");
    expect(load({ A: "real", B: "" })).toEqual({ A: "real", B: "", C: "file" });
  });

  it("are parsed as Node does for --env-file", () => {
    write(".env", "\uFEFFA=a\r\n# comment\r\nexport B = \"two words\" # comment\r\nC='x\ny'\r\nD=$A\r\nE=\r\n");
    expect(load()).toEqual({ A: "a", B: "two words", C: "x\ny", D: "$A", E: "" });
  });

  it("do not exist without the files, and only these two files are read", () => {
    write(".env.production", "A=1\n");
    write(".env.development", "A=1\n");
    expect(load({ B: "1" })).toEqual({ B: "1" });
  });

  it("do not include NODE_ENV, which the command sets", () => {
    write(".env", "NODE_ENV=production\nA=1\n");
    expect(load()).toEqual({ A: "1" });
  });

  it("cannot be read from a folder, and the error names the file and the fix", () => {
    mkdirSync(join(folder, ".env"));
    expect(() => load()).toThrow(`${join(folder, ".env")} cannot be read (EISDIR). Make it a readable text file`);
  });

  it("are read through a link, and a link to nothing is like a missing file", () => {
    write("shared", "A=1\n");
    symlinkSync(join(folder, "shared"), join(folder, ".env"));
    symlinkSync(join(folder, "missing"), join(folder, ".env.local"));
    expect(load()).toEqual({ A: "1" });
  });

  it("are loaded again after a change: removed ones are deleted, and real ones stay", () => {
    write(".env", "A=1\nB=1\nC=1\n");
    const env: Record<string, string | undefined> = { C: "real" };
    const files = new EnvFiles(folder, env);
    expect(files.load()).toEqual(["A", "B"]);
    expect(files.load()).toEqual([]);
    write(".env", "B=2\nC=2\nD=2\n");
    expect([...files.load()].sort()).toEqual(["A", "B", "D"]);
    expect(env).toEqual({ B: "2", C: "real", D: "2" });
    rmSync(join(folder, ".env"));
    expect([...files.load()].sort()).toEqual(["B", "D"]);
    expect(env).toEqual({ C: "real" });
  });

  it("stay as they are if a changed file cannot be read", () => {
    write(".env", "A=1\n");
    const env: Record<string, string | undefined> = {};
    const files = new EnvFiles(folder, env);
    files.load();
    mkdirSync(join(folder, ".env.local"));
    expect(() => files.load()).toThrow("cannot be read");
    expect(env).toEqual({ A: "1" });
  });
});
