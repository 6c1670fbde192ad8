import { EventEmitter } from "node:events";
import { createServer as createHttpServer } from "node:http";
import {
  createServer,
  type DevEnvironment,
  isRunnableDevEnvironment,
  type RunnableDevEnvironment,
  type ViteDevServer,
} from "vite";
import { listenOn, type NodeHandler, node } from "../adapters/index.ts";
import type { App } from "../app.ts";
import { tsweb } from "../compile/index.ts";
import { loadConfig } from "../config/index.ts";
import type { RequestInfo } from "../server/index.ts";
import { developmentAssets, developmentScripts } from "./dev-assets.ts";
import { calledNow } from "./dev-called.ts";
import { answerEdits, guardHost } from "./dev-requests.ts";
import { lookAgain } from "./dev-resolve.ts";
import { hearEdits, wholeEdits } from "./dev-watch.ts";
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
  const edits = new EventEmitter();
  const vite = await createServer({
    root,
    appType: "custom",
    clearScreen: false,
    build: { assetsInlineLimit: 0 }, // as the build has it
    server: { middlewareMode: true, hmr: { server: http } },
    plugins: [tsweb({ entry }), emptyStyleSheets(), developmentScripts(), wholeEdits(), hearEdits(edits), lookAgain()],
  });
  runnable(vite.environments.ssr);
  const running: Running = { vite, entry, base: "", timesForgotten: 0, loading: 0 };
  const handle = node({ fetch: (request, info) => answer(request, info, running) });
  const counted = answerEdits(edits, belowBase(running, handle));
  http.on("request", (...exchange) => guardHost(vite.config.server.allowedHosts, counted)(...exchange));

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
  // As a built application's server does: Node would end the process.
  process.on("unhandledRejection", async (error) => {
    console.error("A promise failed that nobody waited for. Await it, or catch what it fails with:");
    console.error(errorText(await explain(error, root)));
  });
}

function runnable(environment: DevEnvironment | undefined): RunnableDevEnvironment {
  if (environment && isRunnableDevEnvironment(environment)) return environment;
  throw new Error(
    "The development server needs Vite's own server environment, and this project's Vite config replaces it.",
  );
}

interface Running {
  /** Its environments are others once the build tool has started itself anew. */
  readonly vite: ViteDevServer;
  readonly entry: string;
  /** The path that the application is served below, once it has been loaded. */
  base: string;
  /** How often all modules were forgotten. */
  timesForgotten: number;
  /** How many requests are loading the application. */
  loading: number;
}

/**
 * Loads the application as it is in the files now. Where a module is missing, it is tried once more with
 * all of them forgotten: the build tool knows who imports a module, but not who would have, so one that
 * was missing for a moment, while it was saved or moved, would stay missing.
 */
async function load(running: Running): Promise<App> {
  const { vite, timesForgotten } = running;
  const ssr = runnable(vite.environments.ssr);
  try {
    return await importApp(ssr, running);
  } catch (error) {
    const isOvertaken = ssr !== vite.environments.ssr || timesForgotten !== running.timesForgotten;
    if (!isOvertaken) {
      if (!isMissing(error)) throw error;
      running.timesForgotten++;
      await forgetAll(ssr, running.entry);
    }
    return await importApp(runnable(vite.environments.ssr), running);
  }
}

/** Forgets every module, and which file every import was found to mean: that may be another by now. */
async function forgetAll(ssr: RunnableDevEnvironment, entry: string): Promise<void> {
  await ssr.pluginContainer.watchChange(entry, { event: "create" }); // of whatever file, it empties the resolver's cache
  ssr.moduleGraph.invalidateAll();
  ssr.runner.clearCache();
}

/** Answers whether the build tool's runner did not find a file, or a package. */
function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error && error.code;
  return code === "ERR_LOAD_URL" || code === "ERR_MODULE_NOT_FOUND";
}

async function importApp(ssr: RunnableDevEnvironment, running: Running): Promise<App> {
  running.loading++;
  try {
    const module: { default?: unknown } = await ssr.runner.import(running.entry);
    if (isApp(module.default)) return module.default;
    throw new BuildError(noApplication(fileOf(ssr.config.root, running.entry)));
  } catch (error) {
    // It keeps failures too, and what was not there, a database perhaps, may be there the next time.
    if (running.loading === 1) ssr.runner.clearCache();
    throw error;
  } finally {
    running.loading--;
  }
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
  const { vite, entry } = running;
  const { root } = vite.config;
  const showError = async (error: unknown, id: string) => errorPage(await explain(error, root), id);
  try {
    const app = await load(running);
    running.base = app.base;
    const assets = developmentAssets(vite.environments.ssr, entry);
    app.develop({ assets, called: calledNow(vite, entry), showError, version: versionOf(root) });
    return await app.fetch(request, info);
  } catch (error) {
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
