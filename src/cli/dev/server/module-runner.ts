import { setTimeout as pause } from "node:timers/promises";
import {
  createRunnableDevEnvironment,
  createServerModuleRunnerTransport,
  type Plugin,
  type ResolvedConfig,
  type RunnableDevEnvironment,
} from "vite";
import {
  createDefaultImportMeta,
  createNodeImportMeta,
  EvaluatedModules,
  ModuleRunner,
  type ModuleRunnerOptions,
  type ModuleRunnerTransport,
} from "vite/module-runner";

/** How long after an edit the edited modules run without a request, in milliseconds: open pages receive the edit before. */
const RELOAD_DELAY_MS = 100;

/** How long the dispose hooks of modules may run until the modules run again, in milliseconds. As long as `on_stop`. */
const DISPOSE_MS = 2_000;

/** The options of {@link runModules}. */
export interface RunModulesOptions {
  /** Loads the application after an edit, and resolves with whether it was loaded. */
  readonly reload: () => Promise<boolean>;
  /** Prints the error of a dispose hook. */
  readonly printError: (error: unknown, event: string) => void;
}

/**
 * Runs the application's modules. An edit runs the edited module again, and those that import it, directly or through
 * others: {@link KeptModules}.
 *
 * It runs them without the hooks that Vite registers in Node for `import.meta.resolve()`. Before Node
 * 22.15, such hooks run in another thread: each module of a package that the application imports waits for it, which takes
 * longer than loading the module. They are registered when a module calls `import.meta.resolve()`.
 *
 * Before a module runs again, its hook of `import.meta.hot.dispose()` is called: {@link disposeModules}.
 *
 * Does nothing if the project's Vite config creates its own environment.
 */
export function runModules(options: RunModulesOptions): Plugin {
  return {
    name: "tsweb:run-modules",
    config: ({ environments }) => {
      if (environments?.ssr?.dev?.createEnvironment) return undefined;
      const createEnvironment = (name: string, config: ResolvedConfig) =>
        createRunnableDevEnvironment(name, config, {
          runner: (environment) => createModuleRunner(environment, options),
        });
      return { environments: { ssr: { dev: { createEnvironment } } } };
    },
  };
}

/**
 * Calls the dispose hooks of the modules that the next import runs again, and waits for them, for at most two seconds. Vite
 * calls them only for modules that accept their own updates, and a server module runs again with those that import it.
 *
 * @param all whether all modules will run again. Default: those that Vite has invalidated
 */
export async function disposeModules(
  environment: RunnableDevEnvironment,
  { all = false }: { readonly all?: boolean } = {},
): Promise<void> {
  const { runner } = environment;
  if (!(runner instanceof AppModuleRunner)) return;
  const giveUp = new AbortController();
  const limit = pause(DISPOSE_MS, undefined, { signal: giveUp.signal }).then(
    () =>
      console.error(
        "A hook of import.meta.hot.dispose() has not ended within 2 seconds. tsweb dev does not wait for it.",
      ),
    () => undefined, // of the abort
  );
  await Promise.race([runner.dispose((url) => all || runsAgain(url, environment)), limit]);
  giveUp.abort();
}

/** Returns whether the next import runs a module again, because Vite has invalidated it. */
export function runsAgain(url: string, { runner, moduleGraph }: RunnableDevEnvironment): boolean {
  const { id } = runner.evaluatedModules.getModuleByUrl(url) ?? {};
  return id === undefined || !moduleGraph.getModuleById(id)?.transformResult;
}

/**
 * The modules that were run. Vite's runner removes all of them after each edit, and runs them all again: the larger the
 * application, the longer. Here they stay. The runner requests each of them before it uses it, and Vite's server responds with
 * new code for those that it has invalidated: the edited module, and those that import it.
 */
class KeptModules extends EvaluatedModules {
  /** Called before all modules are removed. */
  onRemoveAll: () => void = () => undefined;
  #isReloadOfAll = false;

  /** Called by the runner when it loads the application again. */
  override clear(): void {
    if (this.#isReloadOfAll) this.removeAll();
  }

  /** Notes a reload that no file has caused: which modules it affects is unknown. */
  reloadAll(): void {
    this.#isReloadOfAll = true;
  }

  removeAll(): void {
    this.#isReloadOfAll = false;
    this.onRemoveAll();
    super.clear();
  }
}

class AppModuleRunner extends ModuleRunner {
  readonly #modules: KeptModules;
  readonly #printError: RunModulesOptions["printError"];
  /** The number of imports that are running. */
  #running = 0;

  constructor(
    options: ModuleRunnerOptions,
    { modules, printError }: { readonly modules: KeptModules } & Pick<RunModulesOptions, "printError">,
  ) {
    super({ ...options, evaluatedModules: modules });
    this.#modules = modules;
    this.#printError = printError;
    modules.onRemoveAll = () => void this.dispose(() => true);
  }

  /** Calls the dispose hooks of modules once. Resolves when all have ended, and never rejects. */
  async dispose(isDisposed: (url: string) => boolean): Promise<void> {
    const { disposeMap, dataMap } = this.hmrClient ?? {};
    const hooks = [...(disposeMap ?? [])].filter(([url]) => isDisposed(url));
    for (const [url] of hooks) disposeMap?.delete(url);
    await Promise.all(
      hooks.map(async ([url, hook]) => {
        try {
          await hook(dataMap?.get(url));
        } catch (error) {
          this.#printError(error, "A hook of import.meta.hot.dispose() failed:");
        }
      }),
    );
  }

  /**
   * Imports a module. If that fails, all modules run again at the next import: the runner keeps failures too, also that of an
   * import after an edit, whose cause may be gone before a page is requested. An import that has joined another one is repeated
   * if that fails: the other may have read a file before it was written.
   */
  override async import<T>(url: string): Promise<T> {
    const isJoined = this.#running > 0;
    try {
      return await this.#importOnce<T>(url);
    } catch (error) {
      if (!isJoined) throw error;
      return await this.#importOnce<T>(url);
    }
  }

  async #importOnce<T>(url: string): Promise<T> {
    this.#running++;
    try {
      return await super.import<T>(url);
    } catch (error) {
      if (this.#running === 1) this.clearCache();
      throw error;
    } finally {
      this.#running--;
    }
  }

  override clearCache(): void {
    this.#modules.removeAll();
    super.clearCache();
  }
}

/** Returns a transport that reloads the application {@link RELOAD_DELAY_MS} after an edit, and then notifies the runner. */
function delayReloads(
  transport: ModuleRunnerTransport,
  { modules, reload }: { readonly modules: KeptModules; readonly reload: () => Promise<boolean> },
): ModuleRunnerTransport {
  return {
    ...transport,
    connect: ({ onMessage, onDisconnection }) =>
      transport.connect?.({
        onDisconnection,
        onMessage: (payload) => {
          const isReload = payload.type === "full-reload";
          if (isReload && payload.triggeredBy !== undefined) {
            // The runner would run the modules before the application is stopped.
            setTimeout(async () => (await reload()) && onMessage(payload), RELOAD_DELAY_MS).unref();
            return;
          }
          if (isReload) modules.reloadAll();
          onMessage(payload);
        },
      }),
  };
}

function createModuleRunner(
  { hot, logger }: RunnableDevEnvironment,
  { reload, printError }: RunModulesOptions,
): ModuleRunner {
  const modules = new KeptModules();
  const options: ModuleRunnerOptions = {
    transport: delayReloads(createServerModuleRunnerTransport({ channel: hot }), { modules, reload }),
    hmr: {
      logger: {
        debug: (...messages) => {
          const message = messages.join(" ");
          if (message === CONNECTED) setTimeout(loadTimeFormat, IDLE_MS).unref();
          else logger.info(message, { timestamp: true });
        },
        error: (error) => logger.error(error instanceof Error ? error.message : String(error), { timestamp: true }),
      },
    },
    createImportMeta,
    sourcemapInterceptor: "node",
  };
  return new AppModuleRunner(options, { modules, printError });
}

/** The message of the first request. It says nothing to developers. */
const CONNECTED = "connected.";

/** How long after the first request the process has nothing else to do, in milliseconds. */
const IDLE_MS = 1_000;

/** Loads how the time of day is written. Vite writes it before it sends an update, and the first time takes 20 ms and more. */
function loadTimeFormat(): void {
  new Date().toLocaleTimeString();
}

function createImportMeta(file: string): ReturnType<typeof createNodeImportMeta> {
  return {
    ...createDefaultImportMeta(file),
    main: false,
    resolve: (specifier: string, parent?: string) => createNodeImportMeta(file).resolve(specifier, parent),
  };
}
