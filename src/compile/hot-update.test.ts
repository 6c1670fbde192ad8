import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "vite";
import { expect, it, onTestFinished } from "vitest";
import { tsweb } from "./plugin.ts";

it.each([
  ["an import", 'export { word } from "word";', "new.ts"],
  ["an import()", 'export const load = () => import("word");', "new.ts"],
  ["an import of a module that imports the edited one", 'export { word } from "word";', "text.ts"],
])("an edit affects an importer that an outdated transformation has removed: %s", async (_name, code, edited) => {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-hot-update-"));
  const importer = join(dir, "importer.ts");
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
  writeFileSync(importer, code);
  writeFileSync(join(dir, "old.ts"), 'export const word = "old";');
  writeFileSync(join(dir, "new.ts"), 'export { word } from "./text.ts";');
  writeFileSync(join(dir, "text.ts"), 'export const word = "new";');
  let finishFirst = () => {};
  let resolved = 0;
  const resolveWord = {
    name: "resolve-word",
    async resolveId(source: string) {
      if (source !== "word") return undefined;
      if (resolved++ > 0) return join(dir, "new.ts");
      await new Promise<void>((resolve) => {
        finishFirst = resolve;
      });
      return join(dir, "old.ts");
    },
  };
  const server = await createServer({
    root: dir,
    configFile: false,
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, watch: null },
    plugins: [resolveWord, tsweb()],
  });
  onTestFinished(async () => {
    await server.close();
    rmSync(dir, { recursive: true });
  });
  const { ssr } = server.environments;
  const outdated = ssr.transformRequest("/importer.ts");
  await expect.poll(() => resolved).toBe(1);
  const node = await ssr.moduleGraph.getModuleByUrl("/importer.ts");
  if (!node) throw new Error("There is no module of importer.ts.");
  ssr.moduleGraph.invalidateModule(node);
  for (const url of ["/importer.ts", "/new.ts", "/text.ts"]) await ssr.transformRequest(url);
  const imported = await ssr.moduleGraph.getModuleByUrl("/new.ts");
  expect(imported?.importers).toEqual(new Set([node]));
  finishFirst();
  await outdated;
  expect(imported?.importers).toEqual(new Set()); // as long as Vite keeps the outdated imports
  expect(node.transformResult?.code).toContain("/new.ts");

  server.watcher.emit("change", join(dir, edited));
  await expect.poll(() => node.transformResult).toBe(null);
});
