import { createServer, isRunnableDevEnvironment, type Plugin } from "vite";
import { compileStep } from "../compile/index.ts";
import { type Inspection, internalsOf } from "../server/index.ts";
import { BuildError, EnvFiles, findEntry, noApplicationError } from "./project/index.ts";

/**
 * Loads the application of a folder, compiled and with the variables of development, and returns its functions, pages
 * and routes. It handles no request.
 *
 * What its modules write with `console.log` while they load goes to standard error: standard output is for the
 * command's result.
 *
 * @throws BuildError when there is no application in the folder
 */
export async function loadApp(root: string): Promise<Inspection> {
  const entry = findEntry(root);
  process.chdir(root);
  new EnvFiles(root, process.env).load();
  process.env.WEB_ENV ??= "development";
  console.log = console.error;
  console.info = console.error;
  const vite = await createServer({
    root,
    appType: "custom",
    envDir: false,
    envPrefix: [],
    logLevel: "error",
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    plugins: [compileStep({ entry }).plugins, bundleNoPackages()],
  });
  try {
    const { ssr } = vite.environments;
    if (!isRunnableDevEnvironment(ssr)) {
      throw new BuildError(
        "The project's Vite config replaces the ssr environment, which loads the application's modules. Remove " +
          "environments.ssr.dev.createEnvironment from it.",
      );
    }
    const module: { default?: unknown } = await ssr.runner.import(entry);
    const internals = internalsOf(module.default);
    if (!internals) throw noApplicationError(root, entry);
    return internals.inspection;
  } finally {
    await vite.close();
  }
}

/** Writes a command's result and exits, even when the application keeps the process alive, for example by a database. */
export function printAndExit(text: string): void {
  process.stdout.write(text, () => process.exit(0));
}

/**
 * Prevents that packages are bundled for browsers, which these commands do not serve. The bundles would replace those of a
 * `tsweb dev` that runs in the same folder, whose pages would then fail with "Outdated Optimize Dep".
 */
function bundleNoPackages(): Plugin {
  return {
    name: "tsweb:bundle-no-packages",
    enforce: "post",
    // Vite merges what the hook returns into the lists of others, so the option is replaced here.
    config(config) {
      config.optimizeDeps = { noDiscovery: true, include: [] };
    },
  };
}
