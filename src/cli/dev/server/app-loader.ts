import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type DevEnvironment, isRunnableDevEnvironment, type RunnableDevEnvironment, type ViteDevServer } from "vite";
import type { App } from "../../../app.ts";
import { type AppInternals, internalsOf, requireInternals } from "../../../server/index.ts";
import { BuildError, findEntry, noApplicationError, relativeFile } from "../../project/index.ts";
import { disposeModules, runsAgain } from "./module-runner.ts";
import type { Restarts } from "./restart.ts";

/**
 * Returns an environment that runs modules.
 *
 * @throws Error when the project's Vite config has replaced it
 */
export function requireRunnable(environment: DevEnvironment | undefined): RunnableDevEnvironment {
  if (environment && isRunnableDevEnvironment(environment)) return environment;
  throw new Error(
    "The development server needs Vite's own ssr environment. Remove environments.ssr.dev.createEnvironment from the " +
      "project's Vite config.",
  );
}

/** The options of {@link DevAppLoader}. */
export interface DevAppLoaderOptions {
  /** The application module. */
  readonly entry: string;
  /** The restarts of Vite. */
  readonly restarts: Pick<Restarts, "finished">;
}

/**
 * Loads the application from its files in development, and starts it. An edit stops it before the edited modules run.
 */
export class DevAppLoader {
  readonly #vite: ViteDevServer;
  readonly #entry: string;
  readonly #restarts: Pick<Restarts, "finished">;
  /** How often all modules were invalidated. */
  #invalidations = 0;
  #base: string | null = null;
  /** The application that was started, or is being started. */
  #running: RunningApp | undefined;
  #stopping: Promise<void> | undefined;
  /** How often an edit has stopped the application. */
  #stops = 0;
  /** The environment whose modules were requested for the first time. A restart of Vite creates another one. */
  #started: RunnableDevEnvironment | undefined;
  /** How many requests are loading the application in an environment. */
  readonly #loading = new WeakMap<RunnableDevEnvironment, number>();

  constructor(vite: ViteDevServer, { entry, restarts }: DevAppLoaderOptions) {
    this.#vite = vite;
    this.#entry = entry;
    this.#restarts = restarts;
  }

  /** The base path of the application when it was last loaded; `null` if it never was. */
  get base(): string | null {
    return this.#base;
  }

  /** Vite's server environment: another object after Vite has restarted itself. */
  get #ssr(): RunnableDevEnvironment {
    return requireRunnable(this.#vite.environments.ssr);
  }

  /**
   * Returns the application as its files are now, when its `on_start` has ended. An earlier one is stopped before.
   *
   * When a module is missing, it is loaded once more with all modules invalidated. Vite does not record failed imports:
   * a file that was missing for a moment, while it was saved or moved, would stay missing.
   *
   * @throws BuildError when the application module does not exist any more, or has no application as its default export;
   *   otherwise the error of the module that failed, or of `on_start`
   */
  async load(): Promise<App> {
    try {
      for (;;) {
        await this.#stopEdited();
        const stops = this.#stops;
        const app = await this.#loadCurrent();
        if (stops === this.#stops) await this.#start(app);
        if (stops === this.#stops) return app; // otherwise an edit has stopped it meanwhile
      }
    } catch (error) {
      if (!existsSync(this.#entry)) throw missingEntryError(this.#vite.config.root, this.#entry);
      throw error;
    }
  }

  /** Stops the application, when the process ends. */
  async close(): Promise<void> {
    await this.#running?.stop();
  }

  async #start(app: App): Promise<void> {
    if (this.#running?.app !== app) {
      // Usually undefined. Otherwise its modules have run again without an edit, for example for a plugin of Vite.
      const earlier = this.#running;
      this.#running = new RunningApp(app);
      await earlier?.stop();
    }
    await this.#running.started;
  }

  /** Stops the application if its modules have to run again. */
  async #stopEdited(): Promise<void> {
    if (!this.#stopping && this.#running && runsAgain(this.#entry, this.#ssr)) {
      this.#stops++;
      this.#stopping = this.#stop(this.#running).finally(() => {
        this.#stopping = undefined;
      });
    }
    await this.#stopping;
  }

  /** All modules run again if `on_stop` may have closed what an unedited one has opened, such as a database. */
  async #stop(running: RunningApp): Promise<void> {
    await running.stop();
    this.#running = undefined;
    await disposeModules(this.#ssr, { all: running.hasStopHook });
    if (running.hasStopHook) this.#ssr.runner.clearCache();
  }

  async #loadCurrent(): Promise<App> {
    const invalidations = this.#invalidations;
    try {
      return await this.#importUninterrupted();
    } catch (error) {
      if (invalidations === this.#invalidations) {
        if (!isModuleMissing(error)) throw error;
        this.#invalidations++;
        await this.#invalidateAll(this.#ssr);
      }
      return await this.#importUninterrupted();
    }
  }

  /**
   * Imports the application, and once more after a restart if that has closed the environment: an import fails from then on
   * until Vite has replaced the environment.
   */
  async #importUninterrupted(): Promise<App> {
    for (;;) {
      const ssr = this.#ssr;
      try {
        // The first import of a closed environment would fail after a minute only.
        return await Promise.race([this.#import(ssr), this.#untilReplaced(ssr)]);
      } catch (error) {
        await this.#restarts.finished();
        if (ssr === this.#ssr) throw error;
      }
    }
  }

  /** Rejects as soon as the restart that is running has replaced an environment. Otherwise, it stays pending. */
  async #untilReplaced(ssr: RunnableDevEnvironment): Promise<never> {
    await this.#restarts.finished();
    if (ssr === this.#ssr) return new Promise<never>(() => undefined);
    throw new Error("Vite was restarted.");
  }

  async #import(ssr: RunnableDevEnvironment): Promise<App> {
    this.#loading.set(ssr, (this.#loading.get(ssr) ?? 0) + 1);
    if (this.#started !== ssr) {
      this.#started = ssr;
      void transformImports(ssr, this.#entry);
    }
    try {
      const module: { default?: unknown } = await ssr.runner.import(this.#entry);
      if (!isApp(module.default)) throw noApplicationError(ssr.config.root, this.#entry);
      this.#base = module.default.base;
      if (this.#running?.app !== module.default) await transformImports(ssr, this.#entry);
      return module.default;
    } catch (error) {
      // The runner caches failures too. What was unavailable, such as a database, may be available the next time.
      if (this.#loading.get(ssr) === 1) ssr.runner.clearCache();
      throw error;
    } finally {
      this.#loading.set(ssr, (this.#loading.get(ssr) ?? 1) - 1);
    }
  }

  /** Invalidates all modules and the resolver's cache, because an import may resolve to another file by now. */
  async #invalidateAll(ssr: RunnableDevEnvironment): Promise<void> {
    await ssr.pluginContainer.watchChange(this.#entry, { event: "create" }); // any file empties the cache
    ssr.moduleGraph.invalidateAll();
    ssr.runner.clearCache();
  }
}

/** Returns the error of an application module that was deleted or renamed after the start. */
function missingEntryError(root: string, entry: string): BuildError {
  const other = findEntry(root); // throws if there is none
  return new BuildError(
    `${relativeFile(root, entry)} does not exist any more, but ${relativeFile(root, other)} does. Start tsweb dev again.`,
  );
}

/** Returns whether Vite's runner did not find a file or a package. */
function isModuleMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error && error.code;
  return code === "ERR_LOAD_URL" || code === "ERR_MODULE_NOT_FOUND";
}

/** Recognised by its internals: the application may import another copy of this package. */
function isApp(value: unknown): value is App {
  return internalsOf(value) !== undefined;
}

/** How long `on_start` of an edited application may run until `on_stop` is called, in milliseconds. */
const START_GRACE_MS = 2_000;

/** An application that the development server has started: its `on_start`, and later its `on_stop`. */
class RunningApp {
  readonly app: App;
  /** Settles when `on_start` has ended. It rejects with its error, whatever is requested until the next edit. */
  readonly started: Promise<void>;
  readonly #hooks: AppInternals["hooks"];

  constructor(app: App) {
    this.app = app;
    this.#hooks = requireInternals(app, "tsweb dev").hooks;
    this.started = this.#hooks.start();
    this.started.catch(() => undefined); // whoever requests the application receives the error
  }

  /** Whether the application ends by itself what it has opened: the modules that have opened that run again. */
  get hasStopHook(): boolean {
    return this.#hooks.hasStop;
  }

  /**
   * Runs `on_stop`, also if `on_start` has failed or does not end: it may have started a part of its work. Requests and live
   * connections are not waited for. Resolves after at most four seconds, and never rejects.
   */
  async stop(): Promise<void> {
    if (!this.hasStopHook) return;
    const giveUp = new AbortController();
    const grace = pause(START_GRACE_MS, undefined, { signal: giveUp.signal });
    await Promise.allSettled([Promise.race([this.started, grace])]);
    giveUp.abort();
    grace.catch(() => undefined); // of the abort
    await this.#hooks.stop();
  }
}

/**
 * Transforms a module and everything that it imports, also by `import()`, in parallel. Vite's runner requests one module after
 * the other, and waits for the file system and for other threads at each. It finds those that are transformed already. And
 * Vite's graph of modules is complete afterwards: pages link the style sheets of modules that a view imports later.
 *
 * A module that the runner has run is not transformed again: after an edit, the runner would not notice that it has to run it.
 *
 * Ignores failures: the runner requests a failed module once more, in the order of the imports, and throws its error.
 *
 * @param url the module, as it is passed to the runner
 */
export async function transformImports(environment: RunnableDevEnvironment, url: string): Promise<void> {
  const { runner } = environment;
  const requested = new Set<string>();
  const transform = async (module: string): Promise<void> => {
    requested.add(module);
    const ran = runner.evaluatedModules.getModuleByUrl(module);
    const result = ran
      ? environment.moduleGraph.getModuleById(ran.id)?.transformResult
      : await environment.transformRequest(module).catch(() => null);
    // Those of external packages are no URLs.
    const imports = [...(result?.deps ?? []), ...(result?.dynamicDeps ?? [])];
    await Promise.all(imports.filter((url) => url.startsWith("/") && !requested.has(url)).map(transform));
  };
  await transform(url);
}
