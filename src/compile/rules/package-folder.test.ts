import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { readPackageJson } from "./react-packages.ts";

const folder = mkdtempSync(join(tmpdir(), "tsweb-package-"));
afterEach(() => rmSync(folder, { recursive: true }));

it("reads a package.json that begins with a byte order mark, as Node does", () => {
  writeFileSync(join(folder, "package.json"), '\uFEFF{ "name": "shared", "version": "1.0.0" }');
  expect(readPackageJson(folder)).toEqual({ name: "shared", version: "1.0.0" });
});
