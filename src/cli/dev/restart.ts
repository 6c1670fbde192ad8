import { normalizePath, type Plugin, type ResolvedConfig, type ViteDevServer } from "vite";
import { locateConfigError, withConfigStacks } from "../errors/index.ts";
import type { EnvFiles } from "../project/index.ts";
import { relativeFile } from "../project/index.ts";
import type { Restarts } from "./restarts.ts";

/** The names of a Vite config, as Vite looks for it in the project's folder. */
const CONFIG_NAMES = ["js", "mjs", "ts", "cjs", "mts", "cts"].map((extension) => `vite.config.${extension}`);

/** The variables that take effect at the start of the development server only. */
const START_VARIABLES: readonly string[] = ["HOST", "PORT", "WEB_ENV"];

/** Returns the files for which Vite restarts, whether they exist or not. */
export function restartFiles(config: ResolvedConfig, envFiles: EnvFiles): readonly string[] {
  return [
    ...envFiles.paths.map(normalizePath),
    ...CONFIG_NAMES.map((name) => `${config.root}/${name}`),
    ...config.configFileDependencies,
  ];
}

/** The options of {@link restartWithConfig}. */
export interface RestartOptions {
  readonly envFiles: EnvFiles;
  readonly restarts: Restarts;
  readonly log: (message: string) => void;
}

/**
 * Restarts Vite when a Vite config or a file of variables is created, changed or deleted. Vite itself does so only for the
 * config with which it was started. The port stays open, because another server listens on it.
 *
 * If Vite cannot start with a new config, it prints the error, and the previous Vite continues. Then every edit tries
 * again, because the mistake may be in a file that the config imports.
 */
export function restartWithConfig({ envFiles, restarts, log }: RestartOptions): Plugin {
  /** The servers that were created since the last restart. If a plugin throws, Vite abandons its server and leaves it open. */
  const created: ViteDevServer[] = [];
  return {
    name: "tsweb:restart",
    configureServer: {
      order: "pre", // before the plugins of the config, which may throw
      handler(server) {
        created.push(server);
        const restart = server.restart.bind(server);
        let hasFailed = false;
        server.restart = async (forceOptimize) => {
          const before = server.config;
          created.length = 0;
          const running = withConfigStacks(() => restart(forceOptimize)); // prints an error, and resolves
          restarts.track(running);
          await running;
          hasFailed = server.config === before;
          const abandoned = hasFailed ? created : created.slice(0, -1);
          await Promise.all(abandoned.map((each) => each.close()));
          if (!hasFailed) return;
          const { command, mode, root } = before;
          const reason = await locateConfigError(root, { command, mode });
          log(
            `${reason === undefined ? "" : `${reason}\n`}The development server continues with the previous Vite config.`,
          );
        };
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
