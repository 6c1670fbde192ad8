import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Plugin, parseAst, type ResolvedConfig } from "vite";
import { ssrExportAllKey } from "vite/module-runner";
import { BuildRecorder, type BuildRegistry } from "./build-registry.ts";
import { type CompileOptions, Compiler } from "./compiler.ts";
import { refresh } from "./hot-update.ts";
import { PACKAGE_MODULES } from "./page-views.ts";
import { unsupportedSyntax, usingDeclarations } from "./runtime-syntax.ts";
import { STYLE_SHEET } from "./style-sheets.ts";
import { isInNodeModules, stripQuery } from "./syntax/index.ts";
import { tsconfigPaths } from "./tsconfig-paths.ts";
import { isVitest, PLUGIN_NAME, viteConfig } from "./vite-config.ts";

/**
 * Returns the Vite plugins of tsweb. `tsweb dev` and `tsweb build` add them by themselves; add them to the
 * configuration of Vitest. In the browser, server modules are replaced by stubs. On the server, each
 * declaration receives its metadata as an argument. A module that breaks a rule fails with a `CompileError`.
 *
 * @example export default defineConfig({ plugins: [tsweb()] }); // vitest.config.ts
 */
export function tsweb(options: CompileOptions = {}): Plugin[] {
  return compileStep(options).plugins;
}

/** Returns the plugins of {@link tsweb} together with the registry of what they compile. */
export function compileStep(options: CompileOptions): { plugins: Plugin[]; registry: BuildRegistry } {
  const recorder = new BuildRecorder();
  const pluginsWith = (workers?: () => Plugin[]) => {
    const compiler = new Compiler(options, recorder);
    return [
      compilePlugin(compiler, recorder, workers),
      tsconfigPaths(options.entry),
      loadedTexts(compiler),
      unsupportedSyntax(),
    ];
  };
  return {
    plugins: [...pluginsWith(() => pluginsWith()), commonJsModules(), usingDeclarations(), refresh()],
    registry: recorder,
  };
}

/**
 * Serves the texts of the application's files to the bundler. Without this plugin, each bundle of a build would read them
 * again, after the compile step, and in development a file could be read while it is being written. Its hook is the last one,
 * because plugins of the application may load a module in another way.
 */
function loadedTexts(compiler: Compiler): Plugin {
  return {
    name: "tsweb:loaded-texts",
    enforce: "post",
    sharedDuringBuild: true,
    load: {
      order: "post",
      filter: { id: { include: /\.(?:[cm]?[jt]sx?|css)$/i, exclude: [/[\0?]/, ...PACKAGE_MODULES] } },
      handler(id) {
        return compiler.loadText(this, id);
      },
    },
  };
}

/** Returns the registry of a project's compile step; `undefined` in a project without tsweb. */
export function registryOf(config: Pick<ResolvedConfig, "plugins">): BuildRegistry | undefined {
  const plugin = config.plugins.find((candidate) => candidate.name === PLUGIN_NAME);
  return plugin?.api as BuildRegistry | undefined; // only this file creates a plugin of that name
}

/** @param workers creates the plugins of web workers: Vite bundles those without the other plugins */
function compilePlugin(compiler: Compiler, recorder: BuildRecorder, workers?: () => Plugin[]): Plugin<BuildRegistry> {
  const hooks = {
    name: PLUGIN_NAME,
    resolveId: {
      order: "pre",
      handler(source, importer, options) {
        const resolved = compiler.resolveId(this, source, importer, options);
        // Vite's search for packages would end with the first error. The browser's import of the module reports it.
        return "scan" in options && options.scan ? resolved.catch(() => ({ id: source, external: true })) : resolved;
      },
    },
    transform: {
      order: "pre",
      filter: { id: { exclude: [...PACKAGE_MODULES] } },
      handler(code, id) {
        return compiler.transform(this, code, id);
      },
    },
    onLog: (_level, { code, id = "" }) => !(code === "MODULE_LEVEL_DIRECTIVE" && isInNodeModules(id)),
    buildStart: () => compiler.checkPublicFiles(),
    // Also in the server's build: its assets are moved to the browser's files.
    generateBundle: (_options, bundle) => compiler.checkEmittedAssets(bundle),
  } satisfies Plugin;
  // Of the server's imports, only those of style sheets are checked, and nothing is loaded in place of its modules.
  const serverBuild: Plugin = { ...hooks, resolveId: { ...hooks.resolveId, filter: { id: STYLE_SHEET } } };
  return {
    ...hooks,
    enforce: "pre",
    api: recorder,
    sharedDuringBuild: true,
    applyToEnvironment: (environment) => (compiler.isServerBuild(environment) ? serverBuild : true),
    config: (user, env) => viteConfig(user, env, workers),
    configResolved: (resolved) => compiler.configure(resolved),
    configureServer: (server) => compiler.configureServer(server),
    // tsweb dev also calls this hook, after imports that were not found.
    perEnvironmentWatchChangeDuringDev: true,
    watchChange: (file, { event }) => compiler.filesChanged(event === "update" ? file : undefined),
    load: {
      order: "pre",
      handler(id) {
        return compiler.load(this, id);
      },
    },
    hotUpdate(update) {
      return compiler.hotUpdate(this.environment, update);
    },
  };
}

/** Matches all code that may be a CommonJS module. Few modules match, so that few are parsed. */
const MAY_BE_COMMONJS = /\b(?:require|exports)\b/;

/** A relative file that a CommonJS module loads. */
const RELATIVE_REQUIRE = /\brequire\(\s*(["'])(\.[^"'\n]*)\1\s*\)/g;

/**
 * Lets Node run the CommonJS modules that are not in `node_modules`, such as those of a linked package of a workspace: the
 * runner of Vite's server runs ES modules only. After an edit, they run again.
 *
 * A build needs no such plugin: the bundler compiles them.
 */
function commonJsModules(): Plugin {
  let isTest = false;
  return {
    name: "tsweb:commonjs-modules",
    apply: "serve",
    enforce: "pre",
    applyToEnvironment: ({ name }) => name === "ssr",
    configResolved(config) {
      isTest = isVitest(config); // it has a runner of its own
    },
    load: {
      filter: { id: { include: /\.c?js$/, exclude: [/\0/, /[\\/]node_modules[\\/]/] } },
      handler(id) {
        const file = stripQuery(id);
        if (isTest || !isCommonJs(file)) return null;
        const files = requiredFiles(file);
        for (const required of files) this.addWatchFile(required);
        return { code: wrapperOf(file, files), map: { mappings: "" } };
      },
    },
  };
}

/** Returns whether Node runs a file as a CommonJS module. `false` for one that does not exist. */
function isCommonJs(file: string): boolean {
  if (file.endsWith(".cjs")) return true;
  const code = readIfExists(file);
  if (!MAY_BE_COMMONJS.test(code) || isInModulePackage(file)) return false;
  try {
    return !parseAst(code).body.some(({ type }) => /^(?:Import|Export)/.test(type));
  } catch {
    return false; // Vite shows the error
  }
}

/** Returns whether the nearest package.json declares that its `.js` files are ES modules. */
function isInModulePackage(file: string): boolean {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const text = readIfExists(join(folder, "package.json"));
    if (text !== "") return /"type"\s*:\s*"module"/.test(text);
    if (folder === dirname(folder)) return false;
  }
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Returns a CommonJS module and the files of its package that it requires, directly or through others. */
function requiredFiles(file: string): string[] {
  const files = new Set([file]);
  for (const each of files) {
    for (const [, , specifier = ""] of readIfExists(each).matchAll(RELATIVE_REQUIRE)) {
      const required = resolveRequire(specifier, each);
      if (required && !isInNodeModules(required)) files.add(required);
    }
  }
  return [...files];
}

function resolveRequire(specifier: string, importer: string): string | undefined {
  try {
    return createRequire(importer).resolve(specifier);
  } catch {
    return undefined; // Node throws when the module runs
  }
}

/** Returns an ES module with the exports of a CommonJS module, as `import` of Node has them, and each of its names. */
function wrapperOf(file: string, files: readonly string[]): string {
  return `import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(file)});
for (const file of ${JSON.stringify(files)}) delete require.cache[file];
const exported = require(${JSON.stringify(file)});
export default exported;
${ssrExportAllKey}(exported);
`;
}
