import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { build, type Rolldown } from "vite";

/** Compiles the code of the tabs of a fake browser. */
export async function compileTabs(): Promise<Script> {
  const entry = fileURLToPath(new URL("../../src/browser/subscribe.ts", import.meta.url));
  const built = await build({
    configFile: false,
    logLevel: "silent",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [
      {
        name: "chunk",
        transform: (code) => code.replace(/import\("[^"]+live-tabs[^"]+"\)/, "loadChunk().then(() => $&)"),
      },
    ],
    build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "page" } },
  });
  const [{ output }] = built as Rolldown.RolldownOutput[] as [Rolldown.RolldownOutput]; // of a library with one format
  return new Script(`${output[0].code};page`);
}
