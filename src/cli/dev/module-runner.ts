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
          if (message !== CONNECTED) logger.info(message, { timestamp: true });
        },
        error: (error) => logger.error(error instanceof Error ? error.message : String(error), { timestamp: true }),
      },
    },
    createImportMeta,
    sourcemapInterceptor: "node",
  });
}

/** The message of the first request. It says nothing to developers, and its time of day loads 20 ms of Node's data. */
const CONNECTED = "connected.";

function createImportMeta(file: string): ReturnType<typeof createNodeImportMeta> {
  return {
    ...createDefaultImportMeta(file),
    main: false,
    resolve: (specifier: string, parent?: string) => createNodeImportMeta(file).resolve(specifier, parent),
  };
}
