import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { typesNotice } from "./project.ts";

const typed = mkdtempSync(join(tmpdir(), "tsweb-types-"));
const untyped = mkdtempSync(join(tmpdir(), "tsweb-types-"));
writeFileSync(join(typed, "tsconfig.json"), "{}");
afterAll(() => [typed, untyped].forEach((folder) => void rmSync(folder, { recursive: true })));

describe("typesNotice", () => {
  it.each([undefined, "tsweb build", "vitest run && tsweb build", "tsweb build --tscale"])(
    "names the command that checks types, in the script %j",
    (script) => {
      expect(typesNotice(typed, { npm_lifecycle_script: script })).toBe(
        "Types are not checked. Check them with: npx tsc --noEmit",
      );
    },
  );

  it.each(["tsc && tsweb build", "tsc --noEmit && tsweb build", "npx tsgo && tsweb build"])(
    "returns nothing if the script checks types: %j",
    (script) => {
      expect(typesNotice(typed, { npm_lifecycle_script: script })).toBeUndefined();
    },
  );

  it("returns nothing for a project without tsconfig.json", () => {
    expect(typesNotice(untyped, {})).toBeUndefined();
  });
});
