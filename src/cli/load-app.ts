import { createServer, isRunnableDevEnvironment } from "vite";
import { tsweb } from "../compile/index.ts";
import { INSPECTION, type Inspectable, type Inspection, inspect } from "../server/index.ts";
import { BuildError, fileOf, findEntry, noApplication } from "./project.ts";

/**
 * Loads the application of a folder, compiled as the development server does, and gives what it is
 * made of. Nothing is served.
 *
 * What its modules write with `console.log` as they load goes to standard error: standard output is
 * for what was asked.
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
    plugins: [tsweb({ entry })],
  });
  try {
    const { ssr } = vite.environments;
    if (!isRunnableDevEnvironment(ssr)) {
      throw new BuildError(
        "This project's Vite config replaces the server environment that its modules are loaded in.",
      );
    }
    const module: { default?: unknown } = await ssr.runner.import(entry);
    if (!isInspectable(module.default)) throw new BuildError(noApplication(fileOf(root, entry)));
    return inspect(module.default);
  } finally {
    await vite.close();
  }
}

function isInspectable(value: unknown): value is Inspectable {
  return typeof value === "object" && value !== null && INSPECTION in value;
}

/** Writes a command's answer and ends the process, whatever the application keeps open: a database, say. */
export function answerWith(text: string): void {
  process.stdout.write(text, () => process.exit(0));
}
