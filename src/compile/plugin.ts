import { existsSync } from "node:fs";
import { posix } from "node:path";
import { normalizePath, type Plugin, type ResolvedConfig, type Rolldown } from "vite";
import {
  builtinSentence,
  checkBrowserSide,
  foreignQuerySentence,
  hasForeignQuery,
  isServerDoor,
  serverDoorSentence,
} from "./browser-side.ts";
import { compileConfig, isVitest } from "./config.ts";
import { guardAddresses } from "./dev-addresses.ts";
import { hotUpdate } from "./hot-update.ts";
import { checkMarkup } from "./jsx-rules.ts";
import { fileOf, inNodeModules, isDerived, isScript, isServerModule } from "./parse.ts";
import { refresh } from "./refresh.ts";
import { type Registry, Seen } from "./registry.ts";
import { checkReturnedStreams } from "./returned-streams.ts";
import { functionsHandedOn, readServed, type Served } from "./served.ts";
import { type Compiled, emitServerSide, mayHoldMarks } from "./server-side.ts";
import { shapesOf } from "./shapes/index.ts";
import { emitStubs, stubbedFile, stubId } from "./stubs.ts";
import { ModuleReader, type World } from "./world.ts";

/** How {@link tsweb} is set up. */
export interface CompileOptions {
  /** The application's module, absolute or relative to the root. By default `src/app.ts`, `.tsx` or `.js`. */
  readonly entry?: string;
}

/** The plugin that compiles, with what it has seen. */
export interface CompilePlugin extends Plugin<Registry> {
  readonly api: Registry;
}

/**
 * Makes the Vite plugin of tsweb: the one compile step of the development server, the build and the
 * tests. Server modules become stubs in the browser, and what is marked gets its signature on the server.
 *
 * @see registryOf for what it has seen
 */
export function tsweb(options: CompileOptions = {}): Plugin[] {
  const seen = new Seen();
  const workers = () => [new Compiler(options, seen).plugin()];
  return [new Compiler(options, seen).plugin(workers), refresh()];
}

/** Finds what the compile step of a project has seen; `undefined` in a project without tsweb. */
export function registryOf(config: Pick<ResolvedConfig, "plugins">): Registry | undefined {
  const found = config.plugins.find((plugin) => plugin.name === NAME);
  return found?.api as Registry | undefined; // the plugin of that name is ours
}

const NAME = "tsweb";

type Context = Rolldown.PluginContext & { environment: { name: string } };

class Compiler {
  private readonly options: CompileOptions;
  private readonly seen: Seen;
  private modules = new ModuleReader("/");
  private isDev = false;
  /** Under Vitest all code is tested as the server runs it, whatever environment it pretends to have. */
  private isTest = false;

  constructor(options: CompileOptions, seen: Seen) {
    this.options = options;
    this.seen = seen;
  }

  /** @param workers makes the plugins of workers, which a build gives none of the others to */
  plugin(workers?: () => Plugin[]): CompilePlugin {
    const compiler = this;
    return {
      name: NAME,
      enforce: "pre",
      api: this.seen,
      sharedDuringBuild: true,
      config: (user, env) => compileConfig(user, env, workers),
      configResolved: (resolved) => this.configure(resolved),
      configureServer: (server) => guardAddresses(server, this.modules.root),
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
        if (compiler.isBrowser(this as Context)) refuseServerAssets(bundle);
      },
      hotUpdate(update) {
        compiler.modules.forget(update.file);
        if (update.type === "delete") compiler.seen.forget(update.file);
        return hotUpdate(this.environment, update);
      },
    };
  }

  private configure(resolved: ResolvedConfig): void {
    this.modules = new ModuleReader(normalizePath(resolved.root));
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
    const from = importer && (stubbedFile(importer, this.modules.root) ?? importer);
    if (from !== undefined && inNodeModules(fileOf(from))) return null;
    // What is read from the text has been refused at its place; this is for what another plugin wrote.
    if (isServerDoor(source)) throw new Error(`${serverDoorSentence(source)} (${from ?? source})`);
    if (source.startsWith("node:")) throw new Error(`${builtinSentence(source)} (${from ?? source})`);
    const resolved = await context.resolve(source, from, { ...options, skipSelf: true });
    if (!resolved || resolved.external || !isServerModule(fileOf(resolved.id))) return resolved;
    const file = fileOf(resolved.id);
    if (hasForeignQuery(resolved.id)) throw new Error(`${foreignQuerySentence(file, resolved.id)} (${from ?? source})`);
    return { ...resolved, id: this.isDev ? stubId(file, this.modules.root) : file, moduleSideEffects: false };
  }

  /** Loads stubs where the browser asks for a server module, by whatever id it came to. */
  private async load(context: Context, id: string): Promise<Rolldown.LoadResult> {
    if (!this.isBrowser(context)) return null;
    const file = stubbedFile(id, this.modules.root) ?? fileOf(id);
    if (!isServerModule(file)) return null;
    // In development the module's own address has nothing behind it. In a build it is the stubs' id.
    if (hasForeignQuery(id) || (this.isDev && file === fileOf(id))) {
      throw new Error(`${file} is a server module: the browser has no part in it.`);
    }
    context.addWatchFile(file);
    const facts = await this.modules.file(file);
    const code = emitStubs(facts.functions, await functionsHandedOn(facts, this.world(context)));
    return { code, map: { mappings: "" }, moduleType: "js", moduleSideEffects: false };
  }

  private async transform(context: Context, code: string, id: string): Promise<Rolldown.TransformResult> {
    const file = normalizePath(fileOf(id));
    if (!isScript(file) || id.startsWith("\0") || inNodeModules(file) || isDerived(id)) return null;
    const compiled = this.isBrowser(context)
      ? await this.forBrowser(context, code, file)
      : await this.forServer(context, code, file);
    // A magic-string map and Rolldown's differ in name only.
    return compiled ? { code: compiled.code, map: compiled.map.toString() } : null;
  }

  private async forBrowser(context: Context, code: string, file: string): Promise<Compiled | undefined> {
    // Stubs are made by `load`; only they come here under a server module's name.
    if (isServerModule(file)) return undefined;
    const facts = this.modules.text({ file, code });
    const world = this.world(context);
    const side = await checkBrowserSide(facts, world, () => this.served(world));
    await checkMarkup(facts, world);
    this.seen.inBrowser(file, side.stubs);
    if (!this.isDev) for (const each of side.serverModules) context.addWatchFile(each);
    return side.compiled;
  }

  private async forServer(context: Context, code: string, file: string): Promise<Compiled | undefined> {
    const isEntry = file === this.entry();
    if (!isEntry && !mayHoldMarks(code) && !/\.[jt]sx$/.test(file) && !isServerModule(file)) return undefined;
    const facts = this.modules.text({ file, code });
    const world = this.world(context);
    await checkMarkup(facts, world);
    await checkReturnedStreams(facts, world);
    if (isEntry) await readServed(facts, world);
    this.seen.onServer(file, facts.views, facts.functions);
    const { functions, files } = await shapesOf(facts, world);
    // Types are erased, so nothing else ties this module to those that declare its own.
    for (const each of files) context.addWatchFile(each);
    return emitServerSide(facts, functions, this.modules.root);
  }

  private world(context: Context): World {
    return {
      modules: this.modules,
      resolve: async (specifier, importer) => {
        const found = await context.resolve(specifier, importer, { skipSelf: true });
        return found && !found.external ? normalizePath(found.id) : undefined;
      },
    };
  }

  private entry(): string | undefined {
    const { root } = this.modules;
    const candidates = this.options.entry ? [this.options.entry] : ["src/app.ts", "src/app.tsx", "src/app.js"];
    return candidates.map((file) => posix.resolve(root, normalizePath(file))).find((file) => existsSync(file));
  }

  /** Reads what the application serves. A mistake in its own text is told where that is compiled. */
  private async served(world: World): Promise<Served | undefined> {
    const entry = await world.modules.other(this.entry());
    return entry && readServed(entry, world);
  }
}

/** Refuses a build in which a style sheet, or anything else, has made a file of a server module's text. */
function refuseServerAssets(bundle: Rolldown.OutputBundle): void {
  for (const file of Object.values(bundle)) {
    if (file.type !== "asset") continue;
    const server = file.originalFileNames.find((name) => isServerModule(name));
    if (server) {
      throw new Error(
        `${server} is a server module, and something in the browser's code, a url(…) in a style sheet perhaps, takes its text.`,
      );
    }
  }
}
