import { existsSync } from "node:fs";
import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import type { InlineConfig, ManifestChunk, Plugin, Manifest as ViteManifest } from "vite";
import type { StubUse } from "../compile/index.ts";
import type { ViewAsset } from "../pages/index.ts";
import type { Manifest } from "../server/index.ts";
import type { Found } from "./build.ts";
import { fileOf } from "./project.ts";

/** The browser's build: how it is configured, and what came of it once it has run. */
export interface ClientBuild {
  /** Whether there is anything to build. */
  readonly hasInputs: boolean;
  readonly config: InlineConfig;
  readonly plugin: Plugin;
  manifest(stubs: readonly StubUse[]): Promise<Omit<Manifest, "assetBase">>;
}

const ISLANDS = "virtual:tsweb/islands";

/** Describes the build for the browser: a script for each module with views, and the style sheets. */
export function clientBuild({ root, outDir, found }: { root: string; outDir: string; found: Found }): ClientBuild {
  const sheets = [...new Set([...found.appStyles, ...Object.values(found.styles).flat()])];
  const scripts = found.views.length > 0 ? [ISLANDS, ...found.views] : [];
  const inputs = [...scripts, ...sheets];
  return {
    hasInputs: inputs.length > 0,
    config: clientConfig(root, outDir, inputs, new Set(found.shared)),
    plugin: {
      name: "tsweb:client-build",
      resolveId: (source) => (source === ISLANDS ? ISLANDS : undefined),
      load: (id) => (id === ISLANDS ? 'import "tsweb/islands";' : undefined),
    },
    manifest: async (stubs) => {
      if (inputs.length === 0 && existsSync(join(root, "public"))) {
        await cp(join(root, "public"), outDir, { recursive: true });
      }
      return readManifest({ root, outDir, found, stubs });
    },
  };
}

/** The package's own built files. Matched by their folder, because other packages have a `dist/browser` too. */
const PACKAGE_DIST = fileURLToPath(new URL("..", import.meta.url)).replaceAll("\\", "/");
const PREACT = /[\\/]node_modules[\\/]preact[\\/]/;
/** The part of the package that only pages with live updates load. */
const LIVE = /^(browser\/(live|subscribe)|protocol\/(event-stream|read-feed|position|live-paths))/;

/** Where a module of the browser's build goes: the chunk of every page with a view, the live chunk, or neither. */
export function chunkGroupOf(id: string, dist: string = PACKAGE_DIST): "runtime" | "live" | undefined {
  const file = id.replaceAll("\\", "/");
  if (file.startsWith(dist)) return LIVE.test(file.slice(dist.length)) ? "live" : "runtime";
  return PREACT.test(id) || id.includes("virtual:tsweb") ? "runtime" : undefined;
}

function clientConfig(root: string, outDir: string, inputs: string[], shared: ReadonlySet<string>): InlineConfig {
  return {
    root,
    // Files name each other relative to themselves, so the application's base is not built in.
    base: "./",
    logLevel: "warn",
    build: {
      outDir,
      emptyOutDir: false,
      manifest: true,
      modulePreload: false,
      target: "es2022",
      assetsInlineLimit: 0, // the policy allows data: for images only
      rolldownOptions: {
        input: inputs,
        preserveEntrySignatures: "exports-only",
        output: {
          codeSplitting: {
            // One file for the framework and what all views share: a page is two requests, not four.
            groups: [
              { name: "tsweb", test: (id) => (chunkGroupOf(id) ?? (shared.has(id) && "runtime")) === "runtime" },
            ],
          },
        },
      },
    },
  };
}

interface Built {
  readonly root: string;
  readonly outDir: string;
  readonly found: Found;
  readonly stubs: readonly StubUse[];
}

async function readManifest({ root, outDir, found, stubs }: Built): Promise<Omit<Manifest, "assetBase">> {
  const viteDir = join(outDir, ".vite");
  const text = await readFile(join(viteDir, "manifest.json"), "utf8").catch(() => "{}"); // nothing was built
  const chunks: ViteManifest = JSON.parse(text);
  await rm(viteDir, { recursive: true, force: true });
  const sheets = (files: readonly string[]) => files.flatMap((file) => sheetOf(chunkOf(chunks, fileOf(root, file))));
  return {
    islands: found.views.length > 0 ? asset(chunks, ISLANDS) : null,
    views: Object.fromEntries(found.views.map((id) => [fileOf(root, id), asset(chunks, fileOf(root, id))])),
    styles: Object.fromEntries(Object.entries(found.styles).map(([file, ids]) => [file, sheets(ids)])),
    appStyles: sheets(found.appStyles),
    files: await filesBelow(outDir),
    stubs,
  };
}

/** A CSS module is a script, with the names of its classes, and a sheet beside it. */
function sheetOf({ file, css = [] }: ManifestChunk): string[] {
  return (file.endsWith(".css") ? [file] : css).map((each) => `/${each}`);
}

function chunkOf(chunks: ViteManifest, key: string): ManifestChunk {
  const chunk = chunks[key];
  if (chunk) return chunk;
  throw new Error(`The browser's build has no file for ${key}; it has ${Object.keys(chunks).join(", ")}.`);
}

function asset(chunks: ViteManifest, key: string): ViewAsset {
  const { file, imports = [] } = chunkOf(chunks, key);
  const preload = new Set(imports.map((imported) => `/${chunkOf(chunks, imported).file}`));
  return { src: `/${file}`, preload: [...preload] };
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []); // no file at all
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `/${fileOf(folder, posix.join(entry.parentPath, entry.name))}`)
    .sort();
}
