import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { InlineConfig, Plugin, Rolldown } from "vite";
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
  /** Whether the application's module has no default export, as far as the build came. */
  lacksDefault(): boolean;
  /** The folders of packages that cannot be bundled, since they load compiled code. */
  nativePackages(): ReadonlyMap<string, string>;
  /** The pictures and other files that pages show, by their path below the browser's files. */
  assets(): ReadonlyMap<string, string | Uint8Array>;
  /** What the addresses of those begin with, in the place of the base that only the running application knows. */
  readonly assetBase: string;
}

const ENTRY = "virtual:tsweb/server";
const MANIFEST = "tsweb:manifest";

/** The module of the framework that the build writes anew: what the built application knows of itself. */
const BUILT = fileURLToPath(new URL("../server/built.js", import.meta.url));

/** Describes the build of the server: one file, with everything but compiled code in it. */
export function serverBuild({ root, entry, outDir }: { root: string; entry: string; outDir: string }): ServerBuild {
  const imports = new Map<string, readonly string[]>();
  let lacksDefault = false;
  const natives = new Map<string, string>();
  const assets = new Map<string, string | Uint8Array>();
  // Random, so that nothing a visitor writes can hold it and be changed on a page.
  const assetBase = `/${randomBytes(12).toString("hex")}/`;
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
    moduleParsed({ id, exports }) {
      if (id === entry) lacksDefault = !exports.includes("default");
    },
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        for (const id of this.getModuleIds()) imports.set(id, this.getModuleInfo(id)?.importedIds ?? []);
        takeAssets(bundle, assets);
      },
    },
  };
  return {
    config: { ...serverConfig(root, outDir), base: assetBase },
    plugin,
    graph: () => ({
      modules: [...imports.keys()],
      imports: (id) => imports.get(id) ?? [],
    }),
    lacksDefault: () => lacksDefault,
    nativePackages: () => natives,
    assets: () => assets,
    assetBase,
  };
}

/** Takes out of the server's files what is for the browser. Style sheets are built with the browser's scripts. */
function takeAssets(bundle: Rolldown.OutputBundle, assets: Map<string, string | Uint8Array>): void {
  for (const [name, file] of Object.entries(bundle)) {
    if (file.type !== "asset" || !name.startsWith("assets/")) continue;
    delete bundle[name];
    if (!name.endsWith(".css")) assets.set(name, file.source);
  }
}

function serverConfig(root: string, outDir: string): InlineConfig {
  return {
    root,
    logLevel: "warn",
    build: {
      ssr: true,
      ssrEmitAssets: true,
      assetsInlineLimit: 0, // as in the browser's build: both render the same address
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
