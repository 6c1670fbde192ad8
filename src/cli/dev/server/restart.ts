import type { IncomingMessage, ServerResponse } from "node:http";
import { normalizePath, type Plugin, type ResolvedConfig, type ViteDevServer } from "vite";
import { locateConfigError, withConfigStacks } from "../../errors/index.ts";
import { type EnvFiles, relativeFile } from "../../project/index.ts";

/** The names of a Vite config, as Vite looks for it in the project's folder. */
const CONFIG_NAMES = ["js", "mjs", "ts", "cjs", "mts", "cts"].map((extension) => `vite.config.${extension}`);

/** The variables that take effect at the start of the development server only. */
const START_VARIABLES: readonly string[] = ["HOST", "PORT", "WEB_ENV"];

/** Returns the files for which Vite restarts, whether they exist or not. */
export function restartFiles(
  { root, configFileDependencies = [] }: { readonly root: string; readonly configFileDependencies?: readonly string[] },
  envFiles: EnvFiles,
): readonly string[] {
  return [
    ...envFiles.paths.map(normalizePath),
    ...[...CONFIG_NAMES, "tsconfig.json"].map((name) => `${root}/${name}`),
    ...configFileDependencies,
  ];
}

/** The options of {@link restartWithConfig}. */
export interface RestartOptions {
  readonly envFiles: EnvFiles;
  readonly restarts: Restarts;
  readonly log: (message: string) => void;
}

type RestartFunction = ViteDevServer["restart"];

/**
 * Restarts Vite when a Vite config or a file of variables is created, changed or deleted. Vite itself does so only for the
 * config with which it was started. The port stays open, because another server listens on it.
 *
 * If Vite cannot start with a new config, it prints the error, and the previous Vite continues. Then every edit tries
 * again, because the mistake may be in a file that the config imports.
 */
export function restartWithConfig({ envFiles, restarts, log }: RestartOptions): Plugin {
  /** The servers that were created since the last restart. If a plugin throws, Vite abandons its server and leaves it open. */
  const created: { readonly config: ResolvedConfig; readonly close: () => Promise<void> }[] = [];
  let restartVite: RestartFunction | undefined;
  let hasFailed = false;

  /** Restarts Vite once. @param main the server of `createServer()`: Vite replaces its members by those of the new one */
  async function restartOnce(main: ViteDevServer, restart: () => Promise<void>): Promise<void> {
    const before = main.config;
    created.length = 0;
    await withConfigStacks(restart); // prints an error, and resolves
    hasFailed = main.config === before;
    await Promise.all(created.filter(({ config }) => config !== main.config).map(({ close }) => close()));
    if (!hasFailed) return;
    const { command, mode, root } = before;
    const reason = await locateConfigError(root, { command, mode });
    log(`${reason === undefined ? "" : `${reason}\n`}The development server continues with the previous Vite config.`);
  }

  /** Returns the function that restarts the server of `createServer()`, and replaces that of each server. */
  function restartOf(main: ViteDevServer): RestartFunction {
    const restart = main.restart.bind(main);
    let isForced = false;
    return (forceOptimize = false) => {
      isForced ||= forceOptimize;
      return restarts.run(() => {
        const force = isForced;
        isForced = false;
        return restartOnce(main, () => restart(force));
      });
    };
  }

  return {
    name: "tsweb:restart",
    configureServer: {
      order: "pre", // before the plugins of the config, which may throw
      handler(server) {
        // Vite also repeats a restart, but in one call, which has several servers and results.
        restartVite ??= restartOf(server);
        server.restart = restartVite;
        created.push({ config: server.config, close: () => server.close() });
        const { root } = server.config;
        const isEnvFile = (file: string) => envFiles.paths.some((path) => normalizePath(path) === file);
        server.watcher.on("all", (_event, path) => {
          const file = normalizePath(path);
          // Vite reads the paths of a tsconfig.json once.
          const isConfig = CONFIG_NAMES.some((name) => file === `${root}/${name}`) || isTsconfig(file);
          const isNeeded = isEnvFile(file)
            ? hasNewVariables(envFiles, log)
            : isConfig || (hasFailed && mayBeImported(file));
          if (!isNeeded || isWatchedByVite(file, server)) return;
          log(`${relativeFile(root, file)} has changed. Restarting …`);
          void server.restart();
        });
      },
    },
  };
}

/** Returns whether Vite restarts by itself after an edit of a file. */
function isWatchedByVite(file: string, { config }: ViteDevServer): boolean {
  return file === config.configFile || config.configFileDependencies.includes(file);
}

function isTsconfig(file: string): boolean {
  return /\/tsconfig(?:\.[^/]+)?\.json$/.test(file) && !file.includes("/node_modules/");
}

/** Returns whether a config may import a file. Others may change at each attempt to restart, such as a log. */
function mayBeImported(file: string): boolean {
  return /\.(?:[cm]?[jt]sx?|json)$/.test(file);
}

/** Reads the variables again. Returns whether any has changed that takes effect by a restart of Vite. */
function hasNewVariables(envFiles: EnvFiles, log: (message: string) => void): boolean {
  try {
    const names = envFiles.load();
    const late = names.filter((name) => START_VARIABLES.includes(name));
    if (late.length > 0) log(`${late.join(", ")} changed. Start tsweb dev again for the change to take effect.`);
    return names.length > 0;
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** The status with which Vite responds to a request for a module while it closes, before a restart. */
const OUTDATED = { status: 504, message: "Outdated Request" } as const;

/**
 * The restarts of Vite, one after the other. A request for a module during a restart is served after it: with the response of the Vite that
 * closes, a page would stay without its scripts, and without the one that reloads it.
 */
export class Restarts {
  #count = 0;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #startedAt = Date.now();

  /** When the last restart was started, in milliseconds since the epoch; without one, when this was created. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /**
   * Restarts Vite. During a restart, it restarts once more afterwards, however often this is called: the restart may have
   * read the config before the edit.
   *
   * @param restart restarts Vite once. It is never called before its previous call has ended
   * @returns a promise that settles when no restart follows. It rejects with the error of a restart
   */
  run(restart: () => Promise<void>): Promise<void> {
    this.#count++;
    this.#isRequested = true;
    this.#running ??= this.#restartUntilCurrent(restart);
    return this.#running;
  }

  async #restartUntilCurrent(restart: () => Promise<void>): Promise<void> {
    try {
      while (this.#isRequested) {
        this.#isRequested = false;
        this.#startedAt = Date.now();
        await restart();
      }
    } finally {
      this.#isRequested = false;
      this.#running = undefined;
    }
  }

  /** Resolves when no restart is running. */
  async finished(): Promise<void> {
    await this.#running?.catch(() => undefined); // the caller that restarts Vite receives the error
  }

  /**
   * Serves a request without a body, and once more after a restart if Vite was closing.
   *
   * @param serve passes the request to Vite
   */
  serve(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    const { url = "/" } = request;
    const countBefore = this.#count;
    const { end } = response;
    const endOrRepeat = (...input: Parameters<typeof end>): ServerResponse => {
      response.end = end;
      const isOutdated = response.statusCode === OUTDATED.status && response.statusMessage === OUTDATED.message;
      const isRestarted = this.#running !== undefined || this.#count !== countBefore;
      if (!isOutdated || !isRestarted || response.headersSent) return response.end(...input);
      Object.assign(response, { statusCode: 200, statusMessage: "" });
      Object.assign(request, { url, originalUrl: undefined }); // Vite has removed its base
      void this.finished().then(() => this.serve(request, response, serve));
      return response;
    };
    response.end = endOrRepeat as typeof end; // its overloads
    serve();
  }
}
