import { existsSync } from "node:fs";
import { posix } from "node:path";
import { normalizePath, type Plugin, type ResolvedConfig, type Rolldown } from "vite";
import {
  checkBrowserImports,
  hasUnsupportedQuery,
  isServerEntryPoint,
  nodeBuiltinMessage,
  serverEntryPointMessage,
  unsupportedQueryMessage,
} from "./browser-imports.ts";
import { BuildRecorder, type BuildRegistry } from "./build-registry.ts";
import { guardServerModuleUrls } from "./dev-url-guard.ts";
import { hotUpdate } from "./hot-update.ts";
import { checkMarkup } from "./jsx-checks.ts";
import { ModuleCache } from "./module-cache.ts";
import type { ModuleResolver } from "./module-resolver.ts";
import { refresh } from "./refresh.ts";
import { checkReturnedStreams } from "./returned-streams.ts";
import { readServedFunctions, reExportedFunctions, type ServedFunctions } from "./served-functions.ts";
import { type Compiled, emitServerCode, mayContainDeclarations } from "./server-code.ts";
import { strictSignatures } from "./strict-signatures.ts";
import { emitStubs, serverModuleOfStub, stubId } from "./stubs.ts";
import { hasAssetQuery, isInNodeModules, isScript, isServerModule, stripQuery } from "./syntax/index.ts";
import { isVitest, viteConfig } from "./vite-config.ts";

/** The options of {@link tsweb}. */
export interface CompileOptions {
  /** The application's module, absolute or relative to the root. Default: `src/app.ts`, `.tsx` or `.js`. */
  readonly entry?: string;
}

/** The plugin of the compile step. Its `api` is the registry of what it has compiled. */
export interface CompilePlugin extends Plugin<BuildRegistry> {
  readonly api: BuildRegistry;
}

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
  const workers = () => [new Compiler(options, recorder).plugin()];
  return { plugins: [new Compiler(options, recorder).plugin(workers), refresh()], registry: recorder };
}

/** Returns the registry of a project's compile step; `undefined` in a project without tsweb. */
export function registryOf(config: Pick<ResolvedConfig, "plugins">): BuildRegistry | undefined {
  const plugin = config.plugins.find((candidate) => candidate.name === NAME);
  return plugin?.api as BuildRegistry | undefined; // only this file creates a plugin of that name
}

const NAME = "tsweb";

/** The context of a hook. Rolldown's type of `this` lacks `environment`, which Vite adds to every context. */
type Context = Rolldown.PluginContext & { environment: { name: string } };

class Compiler {
  private readonly options: CompileOptions;
  private readonly recorder: BuildRecorder;
  private modules = new ModuleCache("/");
  private isDev = false;
  /** Vitest runs all modules as server code, regardless of the environment that it simulates. */
  private isTest = false;

  constructor(options: CompileOptions, recorder: BuildRecorder) {
    this.options = options;
    this.recorder = recorder;
  }

  /** @param workers creates the plugins of web workers: Vite bundles those without the other plugins */
  plugin(workers?: () => Plugin[]): CompilePlugin {
    const compiler = this;
    return {
      name: NAME,
      enforce: "pre",
      api: this.recorder,
      sharedDuringBuild: true,
      config: (user, env) => viteConfig(user, env, workers),
      configResolved: (resolved) => this.configure(resolved),
      configureServer: (server) => guardServerModuleUrls(server, this.modules.root),
      resolveId: {
        order: "pre",
        handler(source, importer, options) {
          return compiler.resolveId(this as Context, source, importer, options);
        },
      },
      load: {
        order: "pre",
        handler(id) {
          return compiler.load(this as Context, id);
        },
      },
      transform: {
        order: "pre",
        handler(code, id) {
          return compiler.transform(this as Context, code, id);
        },
      },
      generateBundle(_options, bundle) {
        if (compiler.isBrowser(this as Context)) rejectServerModuleAssets(bundle);
      },
      hotUpdate(update) {
        compiler.modules.delete(update.file);
        if (update.type === "delete") compiler.recorder.delete(update.file);
        return hotUpdate(this.environment, update);
      },
    };
  }

  private configure(resolved: ResolvedConfig): void {
    this.modules = new ModuleCache(normalizePath(resolved.root));
    this.isDev = resolved.command === "serve";
    this.isTest = isVitest(resolved);
  }

  private isBrowser(context: Context): boolean {
    return context.environment.name === "client" && !this.isTest;
  }

  private async resolveId(
    context: Context,
    source: string,
    importer: string | undefined,
    options: Parameters<Rolldown.PluginContext["resolve"]>[2],
  ): Promise<Rolldown.ResolveIdResult> {
    if (!this.isBrowser(context) || source.startsWith("\0")) return null;
    const from = importer && (serverModuleOfStub(importer, this.modules.root) ?? importer);
    if (from !== undefined && isInNodeModules(stripQuery(from))) return null;
    const importedBy = `Imported by ${from ?? "the build configuration"}.`;
    // transform() has checked imports in the source. This check is for imports that another plugin has added.
    if (isServerEntryPoint(source)) throw new Error(`${serverEntryPointMessage(source)} ${importedBy}`);
    if (source.startsWith("node:")) throw new Error(`${nodeBuiltinMessage(source)} ${importedBy}`);
    const resolved = await context.resolve(source, from, { ...options, skipSelf: true });
    if (!resolved || resolved.external || !isServerModule(stripQuery(resolved.id))) return resolved;
    const file = stripQuery(resolved.id);
    if (hasUnsupportedQuery(resolved.id))
      throw new Error(`${unsupportedQueryMessage(file, resolved.id)} ${importedBy}`);
    return { ...resolved, id: this.isDev ? stubId(file, this.modules.root) : file, moduleSideEffects: false };
  }

  /** Loads stubs in place of a server module in the browser, for each of the module's ids. */
  private async load(context: Context, id: string): Promise<Rolldown.LoadResult> {
    if (!this.isBrowser(context)) return null;
    const file = serverModuleOfStub(id, this.modules.root) ?? stripQuery(id);
    if (!isServerModule(file)) return null;
    // In development the stubs have an id of their own. In a build they have the server module's id.
    if (hasUnsupportedQuery(id) || (this.isDev && file === stripQuery(id))) {
      throw new Error(
        `${file} is a server module and cannot be loaded in the browser. Import its server functions by name.`,
      );
    }
    context.addWatchFile(file);
    const facts = await this.modules.readFile(file);
    const code = emitStubs(facts.functions, await reExportedFunctions(facts, this.resolver(context)));
    return { code, map: { mappings: "" }, moduleType: "js", moduleSideEffects: false };
  }

  private async transform(context: Context, code: string, id: string): Promise<Rolldown.TransformResult> {
    const file = normalizePath(stripQuery(id));
    if (!isScript(file) || id.startsWith("\0") || isInNodeModules(file) || hasAssetQuery(id)) return null;
    const compiled = this.isBrowser(context)
      ? await this.compileForBrowser(context, code, file)
      : await this.compileForServer(context, code, file);
    // toString(): the SourceMap types of magic-string and Rolldown differ.
    return compiled ? { code: compiled.code, map: compiled.map.toString() } : null;
  }

  private async compileForBrowser(context: Context, code: string, file: string): Promise<Compiled | undefined> {
    // Under the id of a server module, `load` has returned stubs.
    if (isServerModule(file)) return undefined;
    const facts = this.modules.readText({ file, code });
    const resolver = this.resolver(context);
    const imports = await checkBrowserImports(facts, resolver, () => this.served(resolver));
    await checkMarkup(facts, resolver);
    this.recorder.recordBrowserModule(file, imports.stubs);
    if (!this.isDev) for (const serverModule of imports.serverModules) context.addWatchFile(serverModule);
    return imports.compiled;
  }

  private async compileForServer(context: Context, code: string, file: string): Promise<Compiled | undefined> {
    const isEntry = file === this.entry();
    if (!isEntry && !mayContainDeclarations(code) && !/\.[jt]sx$/.test(file) && !isServerModule(file)) return undefined;
    const facts = this.modules.readText({ file, code });
    const resolver = this.resolver(context);
    await checkMarkup(facts, resolver);
    await checkReturnedStreams(facts, resolver);
    if (isEntry) await readServedFunctions(facts, resolver);
    this.recorder.recordServerModule(file, facts.views, facts.functions);
    const { functions, files } = await strictSignatures(facts, resolver);
    // Vite does not see imports of types, so it would not compile this module again when they change.
    for (const typeFile of files) context.addWatchFile(typeFile);
    return emitServerCode(facts, functions, this.modules.root);
  }

  private resolver(context: Context): ModuleResolver {
    return {
      root: this.modules.root,
      resolve: async (specifier, importer) => {
        const resolved = await context.resolve(specifier, importer, { skipSelf: true });
        return resolved && !resolved.external ? normalizePath(resolved.id) : undefined;
      },
      read: (id) => this.modules.readIfValid(id),
    };
  }

  private entry(): string | undefined {
    const { root } = this.modules;
    const candidates = this.options.entry ? [this.options.entry] : ["src/app.ts", "src/app.tsx", "src/app.js"];
    return candidates.map((file) => posix.resolve(root, normalizePath(file))).find((file) => existsSync(file));
  }

  /** Reads which server functions the application serves. Its own errors are reported when it is compiled. */
  private async served(resolver: ModuleResolver): Promise<ServedFunctions | undefined> {
    const entry = await resolver.read(this.entry());
    return entry && readServedFunctions(entry, resolver);
  }
}

/** Fails a build that emits a server module's text as an asset, for example through `url(…)` in a style sheet. */
function rejectServerModuleAssets(bundle: Rolldown.OutputBundle): void {
  for (const file of Object.values(bundle)) {
    if (file.type !== "asset") continue;
    const serverModule = file.originalFileNames.find((name) => isServerModule(name));
    if (serverModule) {
      throw new Error(
        `${serverModule} is a server module, and the browser build emits its text as the asset ${file.fileName}. Remove the reference to it, for example a url(…) in a style sheet.`,
      );
    }
  }
}
