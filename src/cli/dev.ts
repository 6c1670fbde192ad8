import { createServer as createHttpServer } from "node:http";
import {
  createServer,
  type DevEnvironment,
  isRunnableDevEnvironment,
  type Plugin,
  type RunnableDevEnvironment,
  type ViteDevServer,
} from "vite";
import { listenOn, type NodeHandler, node } from "../adapters/index.ts";
import type { App } from "../app.ts";
import { registryOf, tsweb } from "../compile/index.ts";
import { loadConfig } from "../config.ts";
import type { RequestInfo } from "../pipeline.ts";
import { developmentAssets, developmentScripts } from "./dev-assets.ts";
import { answerEdits, guardHost } from "./dev-requests.ts";
import { errorPage, errorText, explain } from "./error-page.ts";
import { BuildError, fileOf, findEntry, noApplication, versionOf } from "./project.ts";
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
    server: { middlewareMode: true, hmr: { server: http } },
    plugins: [tsweb({ entry }), emptyStyleSheets(), developmentScripts(), wholeEdits()],
  });
  const ssr = runnable(vite.environments.ssr);
  const running: Running = { vite, ssr, entry, base: "", hasFailed: false, isStale: false };
  vite.watcher.on("add", () => {
    running.isStale = running.hasFailed;
  });
  const handle = node({ fetch: (request, info) => answer(request, info, running) });
  const { allowedHosts } = vite.config.server;
  http.on("request", guardHost(allowedHosts, answerEdits(vite.watcher, belowBase(running, handle))));

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

/**
 * Lets the build tool hear of an edit once the file rests. It takes no note of a second change within
 * 50 ms, so of a file that it read half written it would keep that half.
 */
function wholeEdits(): Plugin {
  return {
    name: "tsweb:whole-edits",
    config: ({ server }) => {
      if (server?.watch === null || server?.watch?.awaitWriteFinish !== undefined) return undefined;
      return { server: { watch: { awaitWriteFinish: { stabilityThreshold: 20, pollInterval: 5 } } } };
    },
  };
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
  /** The path that the application is served below, once it has been loaded. */
  base: string;
  /** Whether the application could not be loaded, and whether a file has come since that may mend it. */
  hasFailed: boolean;
  isStale: boolean;
}

/**
 * Forgets every module. The build tool knows who imports a module, but not who would have: without
 * this, a file that was missing and is there now would stay missing.
 */
function startAfresh(running: Running): void {
  running.isStale = false;
  running.ssr.moduleGraph.invalidateAll();
  running.ssr.runner.clearCache();
}

/** Gives the build tool first look at a request: at its path below the application's base, as a build has it. */
function belowBase(running: Running, handle: NodeHandler): NodeHandler {
  return (request, response) => {
    const { url = "/" } = request;
    const { base } = running;
    Object.assign(request, { originalUrl: url }); // else the build tool notes the shortened one, and we would take it
    if (base !== "" && url.startsWith(`${base}/`)) request.url = url.slice(base.length);
    running.vite.middlewares(request, response, () => {
      request.url = url;
      handle(request, response);
    });
  };
}

/** Answers with the application as it is in the files now; what keeps it from loading is shown. */
async function answer(request: Request, info: RequestInfo, running: Running): Promise<Response> {
  const { vite, ssr, entry } = running;
  const { root } = vite.config;
  const showError = async (error: unknown, id: string) => errorPage(await explain(error, root), id);
  try {
    if (running.isStale) startAfresh(running);
    const module: { default?: unknown } = await ssr.runner.import(entry);
    const app = module.default;
    if (!isApp(app)) throw new BuildError(noApplication(fileOf(root, entry)));
    running.hasFailed = false;
    running.base = app.base;
    const called = registryOf(vite.config)?.stubs() ?? [];
    app.develop({ assets: developmentAssets(ssr, entry), called, showError, version: versionOf(root) });
    return await app.fetch(request, info);
  } catch (error) {
    running.hasFailed = true;
    const explained = await explain(error, root);
    console.error(errorText(explained));
    return new Response(errorPage(explained, ""), {
      status: 500,
      headers: { "content-type": "text/html; charset=utf-8" },
    });
  }
}

/** Known by what it does: the application may have a copy of the framework of its own. */
function isApp(value: unknown): value is App {
  return typeof value === "object" && value !== null && "develop" in value && "fetch" in value;
}
