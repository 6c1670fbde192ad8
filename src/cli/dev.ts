import { EventEmitter } from "node:events";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer, type ViteDevServer } from "vite";
import { listenOn, type NodeHandler, node } from "../adapters/index.ts";
import { type BuildRegistry, compileStep } from "../compile/index.ts";
import { loadConfig } from "../config/index.ts";
import { type RequestInfo, requireInternals } from "../server/index.ts";
import { DevAppLoader, requireRunnable } from "./dev-app-loader.ts";
import { developmentAssets, developmentScripts } from "./dev-assets.ts";
import { calledFunctions } from "./dev-called-functions.ts";
import { completeEdits, reportEdits } from "./dev-file-watching.ts";
import { allowOnlyLoopback, countEdits } from "./dev-requests.ts";
import { retryFailedResolves } from "./dev-retry-resolve.ts";
import { errorPage, errorText } from "./error-page.ts";
import { explainError } from "./explain-error.ts";
import { findEntry, projectVersion } from "./project.ts";
import { emptyStyleSheets } from "./style-sheets.ts";

/**
 * Serves an application during development. An edited view is replaced in the page and keeps its state; an edited
 * server module reloads the page.
 *
 * @param root the application's folder
 * @throws BuildError when there is no application in the folder
 */
export async function dev(root: string): Promise<void> {
  const entry = findEntry(root);
  process.chdir(root);
  process.env.WEB_ENV ??= "development";
  const config = loadConfig(process.env, { built: false, projectDir: root });
  const http = createHttpServer();
  const edits = new EventEmitter();
  const { plugins, registry } = compileStep({ entry });
  const vite = await createServer({
    root,
    appType: "custom",
    clearScreen: false,
    build: { assetsInlineLimit: 0 }, // as in the build
    server: { middlewareMode: true, hmr: { server: http } },
    plugins: [
      plugins,
      emptyStyleSheets(),
      developmentScripts(),
      completeEdits(),
      reportEdits(edits),
      retryFailedResolves(),
    ],
  });
  requireRunnable(vite.environments.ssr);
  const app: DevApp = { vite, entry, registry, loader: new DevAppLoader(vite, entry), base: "" };
  const handle = countEdits(edits, viteFirst(app, node({ fetch: (request, info) => respond(request, info, app) })));
  http.on("request", (...exchange) => allowOnlyLoopback(vite.config.server.allowedHosts, handle)(...exchange));

  const { address } = await listenOn(http, config).catch(async (error: unknown) => {
    await vite.close(); // it would keep the process alive
    throw error;
  });
  console.log(`\n  tsweb  ready at ${address}\n`);
  stopOnSignal(vite, http);
  // As a built application does: without a listener, Node would exit.
  process.on("unhandledRejection", async (error) => {
    console.error("Unhandled promise rejection. Await the promise, or catch its error:");
    console.error(errorText(await explainError(error, root)));
  });
}

function stopOnSignal(vite: ViteDevServer, http: Server): void {
  const stop = async () => {
    await vite.close();
    http.closeAllConnections();
    process.exit(0);
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
}

interface DevApp {
  readonly vite: ViteDevServer;
  readonly entry: string;
  readonly registry: BuildRegistry;
  readonly loader: DevAppLoader;
  /** The path below which the application is served, once it was loaded. */
  base: string;
}

/** Lets Vite handle a request first, with its path below the application's base: its files have the same URLs as in a build. */
function viteFirst(app: DevApp, next: NodeHandler): NodeHandler {
  return (request, response) => {
    const { url = "/" } = request;
    const { base } = app;
    Object.assign(request, { originalUrl: url }); // otherwise Vite stores the shortened one, and we would use that
    if (base !== "" && url.startsWith(`${base}/`)) request.url = url.slice(base.length);
    app.vite.middlewares(request, response, () => {
      request.url = url;
      next(request, response);
    });
  };
}

/** Handles a request with the application as its files are now. An error while it loads is shown. */
async function respond(request: Request, info: RequestInfo, dev: DevApp): Promise<Response> {
  const { vite, entry, registry } = dev;
  const { root } = vite.config;
  const showError = async (error: unknown, id: string) => errorPage(await explainError(error, root), id);
  try {
    const app = await dev.loader.load();
    dev.base = app.base;
    requireInternals(app, "tsweb dev").setDevelopment({
      assets: developmentAssets(vite.environments.ssr, entry),
      called: calledFunctions(vite, { entry, registry }),
      showError,
      version: projectVersion(root),
    });
    return await app.fetch(request, info);
  } catch (error) {
    const explained = await explainError(error, root);
    console.error(errorText(explained));
    return new Response(errorPage(explained, ""), {
      status: 500,
      headers: { "content-type": "text/html; charset=utf-8" },
    });
  }
}
