import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkNodeImports } from "./node-imports.ts";

type Client = NonNullable<Parameters<typeof checkNodeImports>[1]["client"]>;

/** Browser code in which a package has the name of the Node module "events". */
const client = {
  pluginContainer: {
    resolveId: async (specifier: string) =>
      specifier === "events"
        ? { id: "/app/node_modules/events/events.js" }
        : { id: `__vite-browser-external:${specifier}` },
  },
} as Client; // only this method is used

const check = (code: string) => checkNodeImports(readTestModule("src/a.tsx", code), { client });

describe("checkNodeImports", () => {
  test.each([
    ['import { readFileSync } from «"node:fs";', '"node:fs"'],
    ['import fs from «"fs";', '"fs"'],
    ['import { readFile } from «"fs/promises";', '"fs/promises"'],
    ['export { randomUUID } from «"node:crypto";', '"node:crypto"'],
    ['const load = () => import(«"node:path");', '"node:path"'],
    ['import { EventEmitter } from «"node:events";', '"node:events"'],
  ])("rejects %s", async (code, name) => {
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toBe(
      `${name} is a Node module, so browser code cannot import it. Use it in a server function and call that function.`,
    );
    expect(error.loc).toEqual({ file: "/app/src/a.tsx", ...parseMarkedCode(code).location });
  });

  test.each([
    'import type { Stats } from "node:fs";',
    'import { type Stats } from "fs";',
    'import { EventEmitter } from "events";',
    'import { view } from "tsweb/browser";',
    'import fs from "./fs.ts";',
    'const image = new URL("fs", import.meta.url);',
  ])("accepts %s", async (code) => {
    await expect(check(code)).resolves.toBeUndefined();
  });
});
