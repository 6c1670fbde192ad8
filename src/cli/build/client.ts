/** The browser's build: its inputs, its configuration and its manifest. */
import { existsSync } from "node:fs";
import { cp, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import type { InlineConfig, ManifestChunk, Plugin, Manifest as ViteManifest } from "vite";
import { type BuildRegistry, isServerModule, type StubUse } from "../../compile/index.ts";
import type { ViewAsset } from "../../pages/index.ts";
import type { Manifest } from "../../server/index.ts";
import { appStyleSheets, ISLANDS, PAGE_MODULES, PART_VIEWS, sharedModules, styleSheetsOf } from "../modules/index.ts";
import { relativeFile } from "../project/index.ts";
import { type BuiltFiles, readBuiltFiles } from "../sizes/index.ts";
import { chunkGroupOf, ownDistFolders } from "./chunk-groups.ts";
import { hashedNames } from "./kept-assets.ts";
import type { ServerGraph } from "./server.ts";

/** The inputs of the browser's build: the modules and style sheets that pages load, read from the server's build. */
interface BrowserInputs {
  /** The modules of the views that pages render, as absolute paths. */
  readonly views: readonly string[];
  /** The modules that all of those import, directly or through others. */
  readonly shared: readonly string[];
  /** The style sheets of each page module, as absolute paths, by the module's relative file. */
  readonly styles: Readonly<Record<string, readonly string[]>>;
  /** The style sheets of all pages, as absolute paths. */
  readonly appStyles: readonly string[];
  /** Whether the application imports `preact/compat`, whose `lazy` and `Suspense` suspend components. */
  readonly hasCompat: boolean;
}

const COMPAT_MODULE = /[\\/]preact[\\/]compat[\\/]/;

interface FinishedServerBuild {
  readonly graph: ServerGraph;
  readonly registry: BuildRegistry;
}

/**
 * Returns the inputs of the browser's build.
 *
 * @param root the application's folder
 * @param entry the application module
 */
export function browserInputs(root: string, entry: string, { graph, registry }: FinishedServerBuild): BrowserInputs {
  const pageModules = graph.modules.filter((id) => isServerModule(id, root));
  const views = [...new Set(registry.views().map(({ file }) => join(root, file)))];
  const isView = (id: string) => views.includes(id);
  return {
    views,
    shared: sharedModules(views, graph),
    styles: Object.fromEntries(pageModules.map((id) => [relativeFile(root, id), styleSheetsOf(id, graph, { isView })])),
    appStyles: appStyleSheets(entry, { root, graph, isView }),
    hasCompat: graph.modules.some((id) => COMPAT_MODULE.test(id)),
  };
}

/** The browser's build: its configuration, and its result once it has run. */
export interface ClientBuild {
  /** Whether there is anything to build. */
  readonly hasInputs: boolean;
  readonly config: InlineConfig;
  readonly plugin: Plugin;
  /** Returns the manifest of the browser's files for the built application. Call it after the build. */
  manifest(stubs: readonly StubUse[]): Promise<ClientManifest>;
  /** Returns the built scripts and style sheets. Call it after the build. */
  files(): BuiltFiles;
}

/** The manifest without what only the server's build knows. Its hashed files are those of the browser's build. */
export type ClientManifest = Omit<Manifest, "assetBase" | "build" | "kept">;

/** The folders and inputs of the browser's build. */
export interface ClientBuildOptions {
  readonly root: string;
  readonly outDir: string;
  readonly inputs: BrowserInputs;
}

/**
 * The code that sends forms, shares a connection with other tabs, waits for messages, or polls, in a dynamic import. The specifier is replaced by the URL of a
 * chunk, because Vite adds a helper of 0.9 KB to pages with a dynamic import that it knows.
 */
const ON_DEMAND = /(?<=\bimport\()"\.\/(form-sending|live-tabs|live-landing|live-poll)\.js"/g;

/** The module of Preact itself, without `preact/hooks` and others. */
const PREACT_MODULE = /[\\/]node_modules[\\/]preact[\\/]dist[\\/]preact\.(?:m?js|module\.js)$/;

/** As Vite copies public files: the targets of links, and never over a file of the build. */
const COPY_OPTIONS = { recursive: true, dereference: true, force: false } as const;

/** Prepares the browser's build: a script for each module with views, and the style sheets. */
export function clientBuild({ root, outDir, inputs }: ClientBuildOptions): ClientBuild {
  const sheets = [...new Set([...inputs.appStyles, ...Object.values(inputs.styles).flat()])];
  const scripts = inputs.views.length > 0 ? [ISLANDS, PART_VIEWS, ...inputs.views] : [];
  const files = [...scripts, ...sheets];
  const hashedFiles: string[] = [];
  /** The chunks that modules load on demand, by the modules' ids. */
  const chunksOnDemand = new Map<string, string[]>();
  let builtFiles: BuiltFiles = { scripts: new Map(), styleSources: new Map() };
  return {
    hasInputs: files.length > 0,
    config: clientConfig({ root, outDir, inputs }, files),
    plugin: {
      name: "tsweb:client-build",
      resolveId: (source) => (Object.hasOwn(PAGE_MODULES, source) ? source : undefined),
      load: (id) => PAGE_MODULES[id],
      transform(code, id) {
        if (PREACT_MODULE.test(id)) {
          if (inputs.hasCompat) return null;
          const smaller = withoutSuspendedHydration(code);
          return smaller === undefined ? null : { code: smaller, map: null };
        }
        if (!code.match(ON_DEMAND) || chunkGroupOf(id, ownDistFolders(root)) === undefined) return null;
        const chunks: string[] = [];
        const replaced = code.replace(ON_DEMAND, (_, name) => {
          chunks.push(this.emitFile({ type: "chunk", id: join(dirname(id), `${name}.js`) }));
          return `import.meta.ROLLUP_FILE_URL_${chunks.at(-1)}`;
        });
        chunksOnDemand.set(id, chunks);
        return { code: replaced, map: null };
      },
      generateBundle: {
        order: "post",
        handler(options, bundle) {
          for (const file of Object.values(bundle)) if (file.type === "chunk") file.code = withShortUrls(file.code);
          hashedFiles.push(...hashedNames(bundle, options).map((name) => `/${name}`));
          const onDemand = [...chunksOnDemand].map(
            ([id, chunks]) => [id, chunks.map((chunk) => this.getFileName(chunk))] as const,
          );
          builtFiles = readBuiltFiles(bundle, new Map(onDemand));
        },
      },
    },
    files: () => builtFiles,
    manifest: async (stubs) => {
      if (files.length === 0 && existsSync(join(root, "public"))) {
        await cp(join(root, "public"), outDir, COPY_OPTIONS); // otherwise Vite copies it
      }
      return { ...(await readManifest({ root, outDir, inputs }, stubs)), hashedFiles };
    },
  };
}

function clientConfig({ root, outDir, inputs }: ClientBuildOptions, files: string[]): InlineConfig {
  const shared = new Set(inputs.shared);
  const distFolders = ownDistFolders(root);
  const isRuntime = (id: string) => (chunkGroupOf(id, distFolders) ?? (shared.has(id) && "runtime")) === "runtime";
  return {
    root,
    // Files refer to each other by relative URLs, so that the application's base is not built in.
    base: "./",
    logLevel: "warn",
    envDir: false, // variables of .env files are for development only
    envPrefix: [],
    build: {
      outDir,
      emptyOutDir: false,
      manifest: true,
      modulePreload: false,
      target: "es2022",
      assetsInlineLimit: 0, // the Content-Security-Policy allows data: URLs for images only
      rolldownOptions: {
        checks: { pluginTimings: false }, // a warning about the time of each plugin on a busy machine
        optimization: { inlineConst: true }, // constants of other modules, too
        input: files,
        preserveEntrySignatures: "exports-only",
        output: {
          codeSplitting: {
            // One chunk for the framework and what all views share: a page loads two scripts instead of four.
            groups: [{ name: "tsweb", test: isRuntime }],
          },
        },
      },
    },
  };
}

async function readManifest(
  { root, outDir, inputs }: ClientBuildOptions,
  stubs: readonly StubUse[],
): Promise<Omit<ClientManifest, "hashedFiles">> {
  const viteDir = join(outDir, ".vite");
  const text = await readFile(join(viteDir, "manifest.json"), "utf8").catch(() => "{}"); // nothing was built
  const chunks: ViteManifest = JSON.parse(text);
  await rm(viteDir, { recursive: true, force: true });
  const sheets = (ids: readonly string[]) =>
    ids.flatMap((id) => sheetsOf(requireChunk(chunks, relativeFile(root, id))));
  const views = inputs.views.map((id) => relativeFile(root, id));
  return {
    islands: views.length > 0 ? scriptAsset(chunks, ISLANDS) : null,
    partViews: views.length > 0 ? scriptAsset(chunks, PART_VIEWS) : null,
    views: Object.fromEntries(views.map((file) => [file, scriptAsset(chunks, file)])),
    styles: Object.fromEntries(Object.entries(inputs.styles).map(([file, ids]) => [file, sheets(ids)])),
    appStyles: sheets(inputs.appStyles),
    files: await filesBelow(outDir),
    stubs,
  };
}

/** A CSS module is built to a script with its class names, and a style sheet beside it. */
function sheetsOf({ file, css = [] }: ManifestChunk): string[] {
  return (file.endsWith(".css") ? [file] : css).map((sheet) => `/${sheet}`);
}

function requireChunk(chunks: ViteManifest, key: string): ManifestChunk {
  const chunk = chunks[key];
  if (chunk) return chunk;
  throw new Error(`The browser's build has no file for ${key}. It has ${Object.keys(chunks).join(", ")}.`);
}

function scriptAsset(chunks: ViteManifest, key: string): ViewAsset {
  const { file, imports = [] } = requireChunk(chunks, key);
  const preload = new Set(imports.map((imported) => `/${requireChunk(chunks, imported).file}`));
  return { src: `/${file}`, preload: [...preload] };
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []); // nothing was written
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `/${relativeFile(folder, posix.join(entry.parentPath, entry.name))}`)
    .sort();
}

/**
 * Returns a script whose imports of URLs beside it are those of relative specifiers: the same, and 20 bytes shorter each with gzip.
 * A URL whose first segment has a colon may have a scheme, so it stays.
 */
export function withShortUrls(code: string): string {
  return code.replace(
    /(?<=\bimport\()new URL\(([`"'])(?=[\w-])(?![^/`"']*:)([^`"']+)\1,\s*import\.meta\.url\)\.href(?=\))/g,
    "$1./$2$1",
  );
}

/**
 * The parts of Preact that resume the hydration of a component that has suspended, as texts of its minified module: the start
 * of each, and what follows it. They are a thirtieth of a page with a view (300 bytes with gzip).
 *
 * Only `lazy` and `Suspense` of `preact/compat` need them: a component that the server has rendered may suspend in the browser.
 * Builds with `preact/compat` keep these parts. The server writes no comments of a streamed response.
 */
const PARTS: readonly (readonly [start: string, following: string])[] = [
  // insert(): steps over the comments of a streamed part.
  ['&&!t.data.startsWith("$s")', ";);return t}function O("],
  // diff(): continues with what the server has rendered for the component, and keeps it before.
  ["128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&", "(s=n.__b)&&s(r);"],
  ["if(t&&t.then){if(r.__u|=128|c,o){", "o&&o.some(g);else r.__e="],
  // diff(): leaves a component that has suspended as it is.
  ["t&&t.then||", "D(r),n.__e(t,r,u)"],
  // rangeEnd(): finds the end of a streamed part.
  ['function B(n,t){if(n&&8==n.nodeType&&n.data.startsWith("$s"))', "function D("],
  // unmount(): removes the comments of a streamed part.
  ["!u&&(i=t.__c)&&(i=i.__z)&&(f=B(", "u||g(t.__e)"],
];

/** Returns the module of Preact without these parts; `undefined` if it is of a version whose text differs. */
export function withoutSuspendedHydration(code: string): string | undefined {
  let text = code;
  for (const [start, following] of PARTS) {
    const from = text.indexOf(start);
    const to = text.indexOf(following, from);
    if (from < 0 || to < 0 || text.indexOf(start, from + 1) >= 0) return undefined;
    text = text.slice(0, from) + text.slice(to);
  }
  return text;
}
