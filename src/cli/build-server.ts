import { fileURLToPath } from "node:url";
import type { InlineConfig, Plugin } from "vite";
import type { ModuleGraph } from "./graph.ts";
import { findNativePackage } from "./native.ts";

/** What the server's build saw: its modules, and what imports what. */
export interface ServerGraph extends ModuleGraph {
  readonly modules: readonly string[];
}

/** The server's build: how it is configured, and what it found once it has run. */
export interface ServerBuild {
  readonly config: InlineConfig;
  readonly plugin: Plugin;
  graph(): ServerGraph;
  /** The folders of packages that cannot be bundled, since they load compiled code. */
  nativePackages(): ReadonlyMap<string, string>;
}

const ENTRY = "virtual:tsweb/server";
const MANIFEST = "tsweb:manifest";

/** The module of the framework that the build writes anew: what the built application knows of itself. */
const BUILT = fileURLToPath(new URL("../built.js", import.meta.url));

/** Describes the build of the server: one file, with everything but compiled code in it. */
export function serverBuild({ root, entry, outDir }: { root: string; entry: string; outDir: string }): ServerBuild {
  const imports = new Map<string, readonly string[]>();
  const natives = new Map<string, string>();
  const plugin: Plugin = {
    name: "tsweb:server-build",
    enforce: "pre",
    resolveId(source, importer) {
      if (source === ENTRY) return ENTRY;
      if (source === MANIFEST) return { id: MANIFEST, external: true };
      const native = importer ? findNativePackage(source, importer) : undefined;
      if (!native) return undefined;
      natives.set(native.name, native.folder);
      return { id: source, external: true };
    },
    load(id) {
      if (id === ENTRY) {
        return `export { default } from ${JSON.stringify(entry)};\nexport { serve } from "tsweb/node";`;
      }
      return id === BUILT ? `export { built } from ${JSON.stringify(MANIFEST)};` : undefined;
    },
    generateBundle() {
      for (const id of this.getModuleIds()) imports.set(id, this.getModuleInfo(id)?.importedIds ?? []);
    },
  };
  return {
    config: serverConfig(root, outDir),
    plugin,
    graph: () => ({
      modules: [...imports.keys()],
      imports: (id) => imports.get(id) ?? [],
    }),
    nativePackages: () => natives,
  };
}

function serverConfig(root: string, outDir: string): InlineConfig {
  return {
    root,
    logLevel: "warn",
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      copyPublicDir: false,
      target: "node20.19",
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: { app: ENTRY },
        output: {
          entryFileNames: "[name].mjs",
          paths: { [MANIFEST]: "./manifest.mjs" },
          codeSplitting: false,
        },
      },
    },
    ssr: { noExternal: true },
  };
}
