import { createServer as createHttpServer } from "node:http";
import {
  createServer,
  type DevEnvironment,
  isRunnableDevEnvironment,
  type RunnableDevEnvironment,
  type ViteDevServer,
} from "vite";
import { listenOn, node } from "../adapters/index.ts";
import type { App, RequestInfo } from "../app.ts";
import { registryOf, tsweb } from "../compile/index.ts";
import { loadConfig } from "../config.ts";
import { developmentAssets, developmentScripts } from "./dev-assets.ts";
import { developmentDependencies } from "./dev-dependencies.ts";
import { errorPage } from "./error-page.ts";
import { BuildError, fileOf, findEntry, noApplication } from "./project.ts";
import { emptyStyleSheets } from "./styles.ts";

/**
 * Serves an application while it is written: an edited view changes on the screen and keeps its
 * state, an edited server module reloads the page.
 *
 * @param root the application's folder
 */
export async function dev(root: string): Promise<void> {
  const entry = findEntry(root);
  process.chdir(root);
  process.env.WEB_ENV ??= "development";
  const config = loadConfig(process.env, { built: false, projectDir: root });
  const http = createHttpServer();
  const vite = await createServer({
    root,
    appType: "custom",
    clearScreen: false,
    build: { assetsInlineLimit: 0 }, // as the build has it
    optimizeDeps: developmentDependencies(import.meta.url),
    server: { middlewareMode: true, hmr: { server: http } },
    plugins: [tsweb({ entry }), emptyStyleSheets(), developmentScripts()],
  });
  const ssr = runnable(vite.environments.ssr);
  const handle = node({ fetch: (request, info) => answer(request, info, { vite, ssr, entry }) });
  http.on("request", (request, response) => vite.middlewares(request, response, () => handle(request, response)));

  const { address } = await listenOn(http, config).catch(async (error: unknown) => {
    await vite.close(); // else it would keep this process alive
    throw error;
  });
  console.log(`\n  tsweb  ready at ${address}\n`);
  const end = async () => {
    await vite.close();
    http.closeAllConnections();
    process.exit(0);
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
}

function runnable(environment: DevEnvironment | undefined): RunnableDevEnvironment {
  if (environment && isRunnableDevEnvironment(environment)) return environment;
  throw new Error(
    "The development server needs Vite's own server environment, and this project's Vite config replaces it.",
  );
}

interface Running {
  readonly vite: ViteDevServer;
  readonly ssr: RunnableDevEnvironment;
  readonly entry: string;
}

/** Answers with the application as it is in the files now; what keeps it from loading is shown. */
async function answer(request: Request, info: RequestInfo, running: Running): Promise<Response> {
  const { vite, ssr, entry } = running;
  const showError = (error: unknown, id: string) => errorPage(error, { id, root: vite.config.root });
  try {
    const module: { default?: unknown } = await ssr.runner.import(entry);
    const app = module.default;
    if (!isApp(app)) throw new BuildError(noApplication(fileOf(vite.config.root, entry)));
    const called = registryOf(vite.config)?.stubs() ?? [];
    app.develop({ assets: developmentAssets(ssr, entry), called, showError });
    return await app.fetch(request, info);
  } catch (error) {
    console.error(error);
    const html = await showError(error, "");
    return new Response(html, { status: 500, headers: { "content-type": "text/html; charset=utf-8" } });
  }
}

/** Known by what it does: the application may have a copy of the framework of its own. */
function isApp(value: unknown): value is App {
  return typeof value === "object" && value !== null && "develop" in value && "fetch" in value;
}
