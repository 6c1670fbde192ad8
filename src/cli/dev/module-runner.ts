import {
  createRunnableDevEnvironment,
  createServerModuleRunnerTransport,
  type Plugin,
  type ResolvedConfig,
  type RunnableDevEnvironment,
} from "vite";
import { createDefaultImportMeta, createNodeImportMeta, ModuleRunner } from "vite/module-runner";

/**
 * Runs the application's modules without the hooks that Vite registers in Node for `import.meta.resolve()`. Before Node
 * 22.15, such hooks run in another thread: each module of a package that the application imports waits for it, which takes
 * longer than loading the module. They are registered when a module calls `import.meta.resolve()`.
 *
 * Does nothing if the project's Vite config creates its own environment.
 */
export function runModules(): Plugin {
  return {
    name: "tsweb:run-modules",
    config: ({ environments }) => {
      if (environments?.ssr?.dev?.createEnvironment) return undefined;
      const createEnvironment = (name: string, config: ResolvedConfig) =>
        createRunnableDevEnvironment(name, config, { runner: createModuleRunner });
      return { environments: { ssr: { dev: { createEnvironment } } } };
    },
  };
}

function createModuleRunner({ hot, logger }: RunnableDevEnvironment): ModuleRunner {
  return new ModuleRunner({
    transport: createServerModuleRunnerTransport({ channel: hot }),
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
  });
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
