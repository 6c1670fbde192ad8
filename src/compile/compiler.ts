import { posix } from "node:path";
import {
  type DevEnvironment,
  type Environment,
  type HotUpdateOptions,
  isFileLoadingAllowed,
  normalizePath,
  type ResolvedConfig,
  type Rolldown,
  type ViteDevServer,
} from "vite";
import {
  hasUnsupportedQuery,
  isServerEntryPoint,
  readBrowserImports,
  serverEntryPointMessage,
  unsupportedQueryMessage,
} from "./browser-imports.ts";
import type { BuildRecorder } from "./build-registry.ts";
import { guardServerOnlyUrls } from "./dev-url-guard.ts";
import { hotUpdate } from "./hot-update.ts";
import {
  applicationModule,
  ModuleCache,
  readWritten,
  resolveImport,
  untilWritten,
  type ViteResolver,
  viteResolver,
} from "./module-cache.ts";
import {
  isServerModule,
  isServerOnly,
  type ModuleFacts,
  realPath,
  reExportedStubs,
  relativePath,
  type ServedFunctions,
  ServerOnlyError,
  servedFunctions,
  serverOnlyFile,
  serverOnlyMessage,
} from "./modules/index.ts";
import { isPackageModule, recordPageViews } from "./page-views.ts";
import { checkEmittedAssets, checkInlinedFiles, checkPublicFiles } from "./published-files.ts";
import {
  checkModuleAlone,
  checkPreactCopies,
  checkViteModule,
  type DefinedGlobals,
  type ExposedVariables,
  nodeBuiltinMessage,
  rejectReact,
  type ViteRuleResolver,
} from "./rules/index.ts";
import { type Compiled, emitServerCode, mayContainDeclarations, strictSignatures } from "./server-code.ts";
import { emitStubs, isStubId, serverModuleOfStub, stubId } from "./stubs.ts";
import { checkStyleSheetModule, guardStyleSheetImports, isStyleSheet, resolveStyleSheet } from "./style-sheets.ts";
import { hasAssetQuery, isInNodeModules, isScript, type SourceFile, stripQuery } from "./syntax/index.ts";
import { aliasedFileNames } from "./tsconfig-paths.ts";
import { checkSinglePlugin, definedGlobals, exposedVariables, isVitest } from "./vite-config.ts";

/** The options of {@link tsweb}. */
export interface CompileOptions {
  /** The application's module, absolute or relative to the root. Default: `src/app.ts`, `.tsx` or `.js`. */
  readonly entry?: string;
}

/** The context of a hook. Rolldown's type of `this` lacks `environment`, which Vite adds to every context. */
export type HookContext = Rolldown.PluginContext & { environment: Environment };

type ResolveOptions = Parameters<Rolldown.PluginContext["resolve"]>[2];

/** Compiles the modules of an application for both sides: what the hooks of the plugin do. */
export class Compiler {
  private readonly options: CompileOptions;
  private readonly recorder: BuildRecorder;
  private modules = new ModuleCache("/");
  private readonly warnings = new ShownWarnings();
  private isDev = false;
  /** Builds only: in development, checks see all elements. Another plugin may compile JSX for another library. */
  private hasTemplates = false;
  private publicDir = "";
  /** Returns the file that an alias names, before links are followed. */
  private namedFile: ReturnType<typeof aliasedFileNames> = async (_environment, specifier) => specifier;
  private defined: DefinedGlobals | undefined;
  private exposed: ExposedVariables | undefined;
  /** Vitest runs all modules as server code, regardless of the environment that it simulates. */
  private isTest = false;
  /** The environment of browser code in development. */
  private client: DevEnvironment | undefined;

  constructor(options: CompileOptions, recorder: BuildRecorder) {
    this.options = options;
    this.recorder = recorder;
  }

  /** Notices the development server, before {@link resolveId} and the other hooks. */
  configureServer(server: ViteDevServer): void {
    if (!this.isTest) this.client = server.environments.client;
    guardServerOnlyUrls(server, this.modules.root);
    server.watcher.on("all", (event, file) => this.filesChanged(event === "change" ? file : undefined));
  }

  /** @param file the file that was edited; `undefined` after files were added or deleted */
  filesChanged(file: string | undefined): void {
    this.modules.filesChanged(file);
  }

  hotUpdate(environment: DevEnvironment, update: HotUpdateOptions): ReturnType<typeof hotUpdate> {
    this.modules.delete(update.file);
    if (update.type === "delete") this.recorder.delete(update.file);
    return hotUpdate(environment, update);
  }

  async checkPublicFiles(): Promise<void> {
    if (!this.isDev) await checkPublicFiles(this.publicDir, this.modules.root);
  }

  checkEmittedAssets(bundle: Rolldown.OutputBundle): void {
    checkEmittedAssets(bundle, this.modules.root);
  }

  configure(resolved: ResolvedConfig): void {
    const root = normalizePath(resolved.root);
    // The build of the browser's files follows that of the server, and uses what that has read.
    if (resolved.command === "serve" || this.modules.root !== root)
      this.modules = new ModuleCache(root, { isNotified: true });
    this.isDev = resolved.command === "serve";
    this.isTest = isVitest(resolved);
    this.hasTemplates = !this.isDev && !this.isTest && resolved.oxc !== false;
    this.publicDir = resolved.publicDir;
    this.namedFile = aliasedFileNames(resolved);
    this.defined = definedGlobals(resolved);
    this.exposed = exposedVariables(resolved);
    checkPreactCopies(this.modules.root);
    if (this.isTest) return;
    checkSinglePlugin(resolved);
    guardStyleSheetImports(resolved);
    checkInlinedFiles(resolved);
  }

  /** Returns whether an environment is that of the server in a build. */
  isServerBuild({ name }: Pick<Environment, "name">): boolean {
    return !this.isDev && !this.isTest && name !== "client";
  }

  private isBrowser(context: HookContext): boolean {
    return context.environment.name === "client" && !this.isTest;
  }

  async resolveId(
    context: HookContext,
    source: string,
    importer: string | undefined,
    options: ResolveOptions,
  ): Promise<Rolldown.ResolveIdResult> {
    if (!this.isBrowser(context)) {
      if (this.isTest || !isStyleSheet(source)) return null;
      return resolveStyleSheet(context, { source, importer, options }, this.modules.root);
    }
    if (source.startsWith("\0")) return null;
    const from = importer && (serverModuleOfStub(importer, this.modules.root) ?? importer);
    if (from !== undefined) rejectReact(source, stripQuery(from), this.modules.root);
    if (from !== undefined && isPackageModule(stripQuery(from))) return null;
    const importedBy = `Imported by ${from ?? "the build configuration"}.`;
    // transform() has checked imports in the source. This check is for imports that another plugin has added.
    if (isServerEntryPoint(source)) throw new Error(`${serverEntryPointMessage(source)} ${importedBy}`);
    if (source.startsWith("node:")) throw new Error(`${nodeBuiltinMessage(source)} ${importedBy}`);
    // In a build, transform() has resolved import statements for their checks.
    const isChecked = !this.isDev && from !== undefined && options?.kind === "import-statement" && !options.custom;
    const resolved = isChecked
      ? await resolveImport(context, this.modules, { specifier: source, importer: from })
      : await context.resolve(source, from, { ...options, skipSelf: true });
    if (!resolved || resolved.external) return resolved;
    const { root } = this.modules;
    const specifier = from === undefined ? source : await this.namedFile(context.environment, source, from);
    const file = serverOnlyFile({ specifier, importer: from, id: resolved.id }, root);
    if (!file) return resolved;
    if (!isServerModule(file, root)) {
      throw new ServerOnlyError(
        `${serverOnlyMessage(relativePath(file, root), "cannot be loaded in the browser")} ${importedBy}`,
      );
    }
    if (hasUnsupportedQuery(resolved.id))
      throw new ServerOnlyError(`${unsupportedQueryMessage(file, resolved.id)} ${importedBy}`);
    return { ...resolved, id: this.isDev ? stubId(file, root) : file, moduleSideEffects: false };
  }

  /**
   * Loads stubs in place of a server module in the browser, for each of the module's ids. In development, waits until the
   * file of a script is written.
   */
  async load(context: HookContext, id: string): Promise<Rolldown.LoadResult> {
    const { root } = this.modules;
    const moduleFile = serverModuleOfStub(id, root) ?? stripQuery(id);
    if (this.isDev && !this.isTest && isScript(moduleFile) && !isInNodeModules(moduleFile))
      await untilWritten(moduleFile);
    if (!this.isBrowser(context)) return null;
    const file = serverModuleOfStub(id, root) ?? realPath(stripQuery(id));
    if (!isServerOnly(file, root)) return null;
    if (!isServerModule(file, root))
      throw new ServerOnlyError(serverOnlyMessage(relativePath(file, root), "cannot be loaded in the browser"));
    // In development the stubs have an id of their own. In a build they have the server module's id.
    if (hasUnsupportedQuery(id) || (this.isDev && !isStubId(id))) {
      throw new ServerOnlyError(
        `${file} is a server module and cannot be loaded in the browser. Import its server functions by name.`,
      );
    }
    context.addWatchFile(file);
    const facts = this.modules.readFile(file);
    checkModuleAlone(facts);
    const resolver = viteResolver(context, this.modules);
    const { functions, files } = await strictSignatures(facts, resolver); // their types tell which take files
    for (const typeFile of files) context.addWatchFile(typeFile);
    const declared = { functions, endpoints: facts.endpoints, declarations: facts.declarations };
    const code = emitStubs(declared, await reExportedStubs(facts, resolver), (signature) =>
      this.recorder.hashOf(signature),
    );
    return { code, map: { mappings: "" }, moduleType: "js", moduleSideEffects: false };
  }

  /**
   * Returns the text of a script or style sheet of the project; `null` for other modules and for missing files, which the
   * bundler reports. In a build, a file is read once for all builds of the command, and the bundler decodes a file that is not
   * plain UTF-8. In development, only scripts are read, after waiting until they are written.
   */
  loadText(context: HookContext, id: string): string | null | Promise<string | null> {
    const file = normalizePath(id);
    if (isPackageModule(file)) return null;
    if (this.isDev) return this.isTest || !isScript(file) ? null : this.loadWritten(context, file);
    const text = this.modules.readSource(file);
    return text === undefined || text.startsWith("\uFEFF") || text.includes("\uFFFD") ? null : text;
  }

  private async loadWritten(context: HookContext, file: string): Promise<string | null> {
    if (!file.startsWith(`${this.modules.root}/`)) return null; // Vite watches the files outside that it reads
    // Vite refuses what server.fs denies only if it reads the file itself.
    const mayLoad = !this.isBrowser(context) || isFileLoadingAllowed(context.environment.getTopLevelConfig(), file);
    const text = mayLoad ? await readWritten(file).catch(() => null) : null;
    return text?.includes("sourceMappingURL=") ? null : text; // Vite reads the source map
  }

  async transform(context: HookContext, code: string, id: string): Promise<Rolldown.TransformResult> {
    const file = normalizePath(stripQuery(id));
    if (isStyleSheet(file) && !isInNodeModules(file) && !this.isTest) {
      await checkStyleSheetModule(id, code, viteResolver(context, this.modules));
      return null;
    }
    if (!isScript(file) || id.startsWith("\0") || isPackageModule(file) || hasAssetQuery(id)) return null;
    const compiled = this.isBrowser(context)
      ? await this.compileForBrowser(context, code, file)
      : await this.compileForServer(context, code, file);
    // toString(): the SourceMap types of magic-string and Rolldown differ.
    return compiled ? { code: compiled.code, map: compiled.map.toString() } : null;
  }

  private async compileForBrowser(context: HookContext, code: string, file: string): Promise<Compiled | undefined> {
    // Under the id of a server module, `load` has returned stubs.
    if (isServerModule(file, this.modules.root)) return undefined;
    const facts = this.modules.readText({ file, code });
    const resolver = viteResolver(context, this.modules);
    let reading: ReturnType<typeof readBrowserImports> | undefined;
    const readImports = () => (reading ??= readBrowserImports(facts, resolver, () => this.served(resolver)));
    await this.check(context, facts, { ...this.ruleResolver(resolver, "browser"), readImports });
    const imports = await readImports();
    this.recorder.recordBrowserModule(file, imports.stubs);
    if (!this.isDev) for (const serverModule of imports.serverModules) context.addWatchFile(serverModule);
    return imports.compiled;
  }

  private async compileForServer(context: HookContext, code: string, file: string): Promise<Compiled | undefined> {
    const isEntry = file === this.entry();
    const mayBeIgnored = !mayContainDeclarations(code) && !/\.[jt]sx$/.test(file);
    if (!isEntry && mayBeIgnored && !isServerModule(file, this.modules.root)) return undefined;
    const facts = this.modules.readText({ file, code });
    const resolver = viteResolver(context, this.modules);
    await this.check(context, facts, { ...this.ruleResolver(resolver, "server"), isApplication: isEntry });
    if (!this.isDev && !this.isTest) await recordPageViews(facts, resolver, { isEntry, recorder: this.recorder });
    // Only `tsweb dev` and `tsweb openapi` have an OpenAPI document.
    const documented = this.isDev && !this.isTest;
    const hashed = !this.isDev && !this.isTest;
    const signatures = await strictSignatures(facts, resolver, { documented, hashed });
    this.recorder.recordServerModule(facts, signatures.functions);
    // Vite does not see imports of types, so it would not compile this module again when they change.
    for (const typeFile of signatures.files) context.addWatchFile(typeFile);
    return emitServerCode(facts, signatures, this.modules.root, {
      hasTemplates: this.hasTemplates,
      hasWaits: documented,
    });
  }

  /** Returns the application's module as an absolute path. */
  private entry(): string | undefined {
    return this.modules.remember("entry", () => applicationModule(this.modules.root, this.options.entry));
  }

  /** Returns which server functions the application serves. Its own errors are reported when it is compiled. */
  private served(resolver: ViteResolver): Promise<ServedFunctions | undefined> {
    return this.modules.remember(`served ${resolver.environment}`, async () => {
      const entry = await resolver.read(this.entry());
      return entry && servedFunctions(entry, resolver);
    });
  }

  /** Returns what rules know of the project. */
  private ruleResolver(resolver: ViteResolver, side: ViteRuleResolver["side"]): ViteRuleResolver {
    return {
      ...resolver,
      side,
      isApplication: false,
      isTest: this.isTest,
      defined: this.defined,
      exposed: this.exposed,
      client: side === "server" ? this.client : undefined,
      application: () => resolver.read(this.entry()),
      remember: (key, compute) => this.modules.remember(`${key} ${resolver.environment}`, compute),
      readImports: async () => undefined,
    };
  }

  /** Checks a module, and prints the warnings about it that were not printed yet: both sides compile the module of a view. */
  private async check(context: HookContext, facts: ModuleFacts, resolver: ViteRuleResolver): Promise<void> {
    const warnings = await checkViteModule(facts, resolver);
    for (const warning of this.warnings.add(facts.source, warnings)) context.warn(warning);
  }
}

/** The warnings that were shown about the modules of an application. An edit of another file compiles a module again. */
export class ShownWarnings {
  readonly #byFile = new Map<string, { readonly code: string; readonly texts: Set<string> }>();

  /**
   * Returns the warnings that were not shown yet about this version of a module, and remembers them. Several modules may have the
   * same warning, about one that they import: it is shown once, and again after an edit of that one.
   */
  add({ file, code }: SourceFile, texts: readonly string[]): string[] {
    const known = this.#byFile.get(file);
    if (known && known.code !== code) this.#forget(file);
    const own = known?.code === code ? known.texts : new Set<string>();
    this.#byFile.set(file, { code, texts: own });
    const shown = new Set([...this.#byFile.values()].flatMap(({ texts }) => [...texts].filter(namesLocation)));
    const added = [...new Set(texts)].filter((text) => !own.has(text) && !shown.has(text));
    for (const text of texts) own.add(text);
    return added;
  }

  /** Forgets the warnings about a file that has changed: its own, and those of other modules that name it. */
  #forget(file: string): void {
    this.#byFile.delete(file);
    const name = posix.basename(file);
    for (const { texts } of this.#byFile.values())
      for (const text of texts) if (text.includes(name)) texts.delete(text);
  }
}

/** Returns whether a warning names a file and a line, so that it is the same one in whichever module it is found. */
function namesLocation(text: string): boolean {
  return /\.[cm]?[jt]sx?:\d/.test(text);
}
