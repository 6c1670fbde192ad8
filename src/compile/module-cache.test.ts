import { mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ModuleCache } from "./module-cache.ts";

let root: string;
let file: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-cache-")));
  file = join(root, "a.ts");
  onTestFinished(() => rmSync(root, { recursive: true }));
  return write("export const one = 1;");
});

let writes = 0;

/** Writes the module. Each text has a time of its own, as if it was written later. */
function write(code: string): void {
  writeFileSync(file, code);
  const time = new Date(1e12 + 1000 * ++writes);
  utimesSync(file, time, time);
}

const exportsOf = (modules: ModuleCache) => modules.readIfValid(file)?.exports.named.map(({ name }) => name);

describe("a cache that is notified of changes", () => {
  const create = () => new ModuleCache(root, { isNotified: true });

  it("parses a module once, for its text and its file", () => {
    const modules = create();
    const first = modules.readFile(file);
    expect(modules.readFile(file)).toBe(first);
    expect(modules.readText({ file, code: "export const one = 1;" })).toBe(first);
  });

  it("returns what it has read until it is notified of a change", async () => {
    const modules = create();
    expect(exportsOf(modules)).toEqual(["one"]);
    write("export const two = 2;");
    expect(exportsOf(modules)).toEqual(["one"]);
    modules.filesChanged(file);
    expect(exportsOf(modules)).toEqual(["two"]);
  });

  it("reads all files again that have changed when it is notified of one, because the notifications of others may be late", async () => {
    const modules = create();
    expect(exportsOf(modules)).toEqual(["one"]);
    write("export const two = 2;");
    modules.filesChanged(join(root, "other.ts"));
    expect(exportsOf(modules)).toEqual(["two"]);
  });

  it("keeps the facts of a file that has not changed", async () => {
    const modules = create();
    const facts = modules.readFile(file);
    modules.filesChanged();
    expect(modules.readFile(file)).toBe(facts);
  });

  it("returns nothing for a module with an error or without a file, and reads the module again after its change", async () => {
    const modules = create();
    write("export const = 1;");
    expect(exportsOf(modules)).toBeUndefined();
    write("export const one = 1;");
    modules.filesChanged(file);
    expect(exportsOf(modules)).toEqual(["one"]);
    rmSync(file);
    modules.filesChanged();
    expect(exportsOf(modules)).toBeUndefined();
  });

  it("computes a value once, and again after a change", () => {
    const modules = create();
    const compute = vi.fn(() => 1);
    for (let count = 0; count < 3; count++) modules.remember("value", compute);
    expect(compute).toHaveBeenCalledTimes(1);
    modules.filesChanged(file);
    modules.remember("value", compute);
    expect(compute).toHaveBeenCalledTimes(2);
  });

  it("resolves an import once, and again after files were created or deleted", async () => {
    const modules = create();
    const resolve = vi.fn(async () => ({ id: file }) as never); // only the id is read
    for (let count = 0; count < 3; count++) await modules.resolveOnce("./a", resolve);
    modules.filesChanged(file);
    await modules.resolveOnce("./a", resolve);
    expect(resolve).toHaveBeenCalledTimes(1);
    for (const changed of [undefined, join(root, "tsconfig.json")]) {
      resolve.mockClear();
      modules.filesChanged(changed);
      await modules.resolveOnce("./a", resolve);
      expect(resolve).toHaveBeenCalledTimes(1);
    }
  });

  it("always resolves an import again that was not found, or could not be resolved", async () => {
    const modules = create();
    const resolve = vi.fn<() => Promise<null>>(async () => null);
    expect(await modules.resolveOnce("zod", resolve)).toBeNull();
    resolve.mockRejectedValueOnce(new Error("the resolver failed"));
    await expect(modules.resolveOnce("zod", resolve)).rejects.toThrow("the resolver failed");
    expect(await modules.resolveOnce("zod", resolve)).toBeNull();
    expect(resolve).toHaveBeenCalledTimes(3);
  });
});

describe("a cache that is not notified of changes", () => {
  it("checks files and computes values at each use", async () => {
    const modules = new ModuleCache(root);
    expect(exportsOf(modules)).toEqual(["one"]);
    write("export const two = 2;");
    expect(exportsOf(modules)).toEqual(["two"]);
    const compute = vi.fn(() => 1);
    for (let count = 0; count < 2; count++) modules.remember("value", compute);
    expect(compute).toHaveBeenCalledTimes(2);
  });
});
