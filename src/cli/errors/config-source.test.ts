import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfigFromFile } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { locateInConfig, withConfigStacks } from "./config-errors.ts";
import { explainError } from "./explain-error.ts";

const before = process.cwd();
let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-config-")));
  mkdirSync(join(root, "node_modules"));
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  process.chdir(root); // as the commands do
});
afterAll(() => {
  process.chdir(before);
  rmSync(root, { recursive: true });
});

/** Loads a config with Vite, and returns its error as it is shown. */
async function failureOf(config: string) {
  writeFileSync(join(root, "vite.config.ts"), config);
  const env = { command: "serve", mode: "development" } as const;
  try {
    await withConfigStacks(() => loadConfigFromFile(env, undefined, root, "silent"));
  } catch (error) {
    return explainError(locateInConfig(error, root), root);
  }
  throw new Error("The config has been loaded.");
}

describe("an error of a Vite config", () => {
  it.each([
    ["export default { base: [ };", "Unexpected token. Correct it.", "vite.config.ts:1:26"],
    ["const a = 1;\nexport default { base: [ };", "Unexpected token. Correct it.", "vite.config.ts:2:26"],
    ['import x from "./x.js"; export default { x };', "there is no file x.js", "vite.config.ts:1:15"],
    ['import x from "nope-x"; export default { x };', 'The package "nope-x" is not installed', "vite.config.ts:1:15"],
  ])("is located in its source, without what Vite inserts: %j", async (config, message, location) => {
    const error = await failureOf(config);
    expect(error.message).toContain(message);
    expect(error.location).toBe(location);
    expect(`${error.message}${error.frame}`).not.toMatch(/__vite|\.vite-temp/);
  });

  it("has no location if Vite inserts lines of unknown length", async () => {
    const { message, location } = await failureOf("const at = import.meta.resolve;\nexport default { base: [ };");
    expect([message, location]).toEqual(["Unexpected token. Correct it.", ""]);
  });
});
