import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type UserConfig, type ViteDevServer } from "vite";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { ModuleCache, readWritten, untilWritten } from "./module-cache.ts";
import { tsweb } from "./plugin.ts";

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tsweb-written-"));
  file = join(dir, "a.ts");
  onTestFinished(() => rmSync(dir, { recursive: true }));
});

it("waits until a file that was just emptied is written", async () => {
  let hasReturned = false;
  writeFileSync(file, "");
  const waiting = untilWritten(file).then(() => {
    hasReturned = true;
  });
  await new Promise((resolve) => process.nextTick(resolve));
  expect(hasReturned).toBe(false);
  writeFileSync(file, "export {};");
  await waiting;
});

/** Empties the file, as if that was done some milliseconds ago. */
function emptiedBefore(milliseconds: number): void {
  writeFileSync(file, "");
  const time = new Date(Date.now() - milliseconds);
  utimesSync(file, time, time);
}

it.each([500, 1_500])("waits for a file that was emptied %i ms ago", async (milliseconds) => {
  emptiedBefore(milliseconds);
  const [waiting, reading] = [untilWritten(file), readWritten(file)];
  setTimeout(() => writeFileSync(file, "export {};"), 50);
  expect(await reading).toBe("export {};");
  await waiting;
});

it("does not wait for a file that was emptied two seconds ago or in the future, or does not exist", async () => {
  for (const milliseconds of [2_000, -10_000]) {
    emptiedBefore(milliseconds);
    const writing = setTimeout(() => writeFileSync(file, "export {};"), 1_000);
    await untilWritten(file);
    expect(await readWritten(file)).toBe("");
    clearTimeout(writing);
  }
  await untilWritten(join(dir, "missing.ts"));
  await untilWritten(join(file, "below-a-file.ts")); // the test ends after 60 seconds if this waits for ever
});

it("a module that another one imports is read once it is written, also if it was read while it was empty", async () => {
  const modules = new ModuleCache(dir, { isNotified: true });
  writeFileSync(file, "");
  expect(modules.readIfValid(file)?.exports.named).toEqual([]);
  const reading = modules.readWritten(file);
  writeFileSync(file, "export const one = 1;");
  expect((await reading)?.exports.named.map(({ name }) => name)).toEqual(["one"]);
});

it("the text of a file that stays empty is empty", async () => {
  emptiedBefore(1_800);
  await untilWritten(file);
  emptiedBefore(1_800);
  expect(await readWritten(file)).toBe("");
  await expect(readWritten(join(dir, "missing.ts"))).rejects.toThrow("ENOENT");
});

/** Starts a development server of Vite in the folder, which the test closes. */
async function startVite(config: UserConfig): Promise<ViteDevServer> {
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
  const server = await createServer({
    root: dir,
    configFile: false,
    optimizeDeps: { noDiscovery: true },
    ...config,
    server: { middlewareMode: true, ws: false, watch: null, ...config.server },
    plugins: [tsweb(), config.plugins],
  });
  onTestFinished(() => server.close());
  return server;
}

it("a module that is saved again while it is loaded is never empty", async () => {
  const saveAgain = {
    name: "save-again",
    load(id: string) {
      if (id !== file) return;
      writeFileSync(file, "");
      setTimeout(() => writeFileSync(file, "export const two = 2;"), 20);
    },
  };
  writeFileSync(file, "export const one = 1;");
  const server = await startVite({ plugins: [saveAgain] });
  expect(await server.ssrLoadModule("/a.ts")).toMatchObject({ two: 2 });
});

it("a module that server.fs denies is not sent to browsers", async () => {
  writeFileSync(file, 'export const key = "k";');
  const server = await startVite({ server: { fs: { deny: ["**/a.ts"] } } });
  await expect(server.environments.client.transformRequest("/a.ts")).rejects.toThrow(/a\.ts/);
  expect(await server.ssrLoadModule("/a.ts")).toMatchObject({ key: "k" });
});
