import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { filesBelow } from "./files-below.ts";

it("lists the files below a folder, without those of packages and behind links", () => {
  const root = mkdtempSync(join(tmpdir(), "tsweb-files-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ["src/pages", "src/node_modules/a", "other"]) mkdirSync(join(root, folder), { recursive: true });
  for (const file of ["src/app.ts", "src/pages/home.ts", "src/node_modules/a/index.js", "other/b.ts"]) {
    writeFileSync(join(root, file), "");
  }
  symlinkSync("../other", join(root, "src", "linked"));
  symlinkSync(".", join(root, "src", "loop"));
  expect(filesBelow(join(root, "src"))?.sort()).toEqual([
    join(root, "src", "app.ts"),
    join(root, "src", "pages", "home.ts"),
  ]);
  expect(filesBelow(join(root, "missing"))).toBeUndefined();
});
