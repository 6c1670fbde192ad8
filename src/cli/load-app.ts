import { createServer, isRunnableDevEnvironment } from "vite";
import { compileStep } from "../compile/index.ts";
import { type Inspection, internalsOf } from "../server/index.ts";
import { BuildError, findEntry, noApplicationMessage, relativeFile } from "./project.ts";

/**
 * Loads the application of a folder, compiled as in development, and returns its functions, pages and routes. It handles
 * no request.
 *
 * What its modules write with `console.log` while they load goes to standard error: standard output is for the
 * command's result.
 *
 * @throws BuildError when there is no application in the folder
 */
export async function loadApp(root: string): Promise<Inspection> {
  const entry = findEntry(root);
  process.chdir(root);
  process.env.WEB_ENV ??= "development";
  console.log = console.error;
  console.info = console.error;
  const vite = await createServer({
    root,
    appType: "custom",
    logLevel: "error",
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    plugins: [compileStep({ entry }).plugins],
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
    if (!internals) throw new BuildError(noApplicationMessage(relativeFile(root, entry)));
    return internals.inspection;
  } finally {
    await vite.close();
  }
}

/** Writes a command's result and exits, even when the application keeps the process alive, for example by a database. */
export function printAndExit(text: string): void {
  process.stdout.write(text, () => process.exit(0));
}
