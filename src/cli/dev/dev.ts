import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type InlineConfig, normalizePath, type ViteDevServer } from "vite";
import { listenOn, type NodeHandler, node } from "../../adapters/index.ts";
import type { App } from "../../app.ts";
import { type BuildRegistry, compileStep, namesServerOnlyUrl } from "../../compile/index.ts";
import type { Config } from "../../config/index.ts";
import {
  type BuildToolAccess,
  currentContext,
  FetchInboundRequest,
  type InboundRequest,
  randomHex,
  toFetchResponse,
} from "../../http/index.ts";
import type { DevelopmentPanel } from "../../panel/index.ts";
import { requireInternals, respondToLoadFailure } from "../../server/index.ts";
import { ErrorLog, explainError, fixOptions, loadingConfig } from "../errors/index.ts";
import { emptyStyleSheets, importedModules } from "../modules/index.ts";
import { EnvFiles, findEntry, htmlFileNotes, projectInfo, typesNotice } from "../project/index.ts";
import { DevAppLoader, requireRunnable } from "./app-loader.ts";
import {
  adaptViteClient,
  DEV_BASE,
  developmentAssets,
  developmentScripts,
  moduleGraphOf,
  POLICY_REPORTS_PATH,
} from "./assets.ts";
import { browserErrors } from "./browser-errors.ts";
import { BrowserFiles } from "./browser-files.ts";
import { calledFunctions } from "./called-functions.ts";
import { EditVersions } from "./edit-versions.ts";
import { loadEnvironment } from "./environment.ts";
import { explainOverlayErrors } from "./error-messages.ts";
import { type ErrorPageOptions, errorPage, remoteErrorPage } from "./error-page.ts";
import { completeEdits, reportEdits } from "./file-watching.ts";
import { showLoadFailure } from "./load-failures.ts";
import { logViteErrors } from "./logger.ts";
import { rejectMissingAssets } from "./missing-assets.ts";
import { runModules } from "./module-runner.ts";
import { checkPackageOptions } from "./package-options.ts";
import { PageChecks } from "./page-checks.ts";
import { panelLine, servePanel } from "./panel.ts";
import { PolicyViolations } from "./policy-violations.ts";
import {
  allowOnlyThisMachine,
  type Client,
  guardUpgrades,
  isForwarded,
  isThisMachine,
  setHeaders,
} from "./requests.ts";
import { restartWithConfig } from "./restart.ts";
import { Restarts } from "./restarts.ts";
import { retryFailedResolves } from "./retry-resolve.ts";
import { ServedSourceMaps } from "./source-maps.ts";
import { notifyParent, stopWithParent, surviveErrors } from "./survival.ts";
import { declarationOf, explainThrownValue, isErrorLike } from "./thrown-values.ts";
import { unloadedPageAdvice } from "./unloaded-pages.ts";
import { UnservedRequests } from "./unserved-requests.ts";
import { viewModules } from "./view-modules.ts";
import { watchEventLoop } from "./watchdog.ts";

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
  const envFiles = new EnvFiles(root, process.env);
  envFiles.load();
  process.env.WEB_ENV ??= "development";
  const config = loadEnvironment(root);
  const http = createHttpServer();
  const upgrades = createHttpServer(); // receives the WebSocket connections of pages; it does not listen
  const edits = new EventEmitter();
  const versions = new EditVersions(edits);
  const { plugins, registry } = compileStep({ entry });
  const buildTool = { nonce: randomHex(16), reportPath: POLICY_REPORTS_PATH };
  const violations = new PolicyViolations(buildTool, (message) => console.error(`\n${message}\n`));
  const errors = new ErrorLog(normalizePath(root), (text) => console.error(text));
  edits.on("all", () => errors.handleEdit());
  const unserved = new UnservedRequests(edits, errors, (message) => console.error(`\n${message}\n`));
  const maps = new ServedSourceMaps();
  const restarts = new Restarts();
  const pageChecks = new PageChecks({ maps, currentEdits: () => versions.current });
  const viteConfig: InlineConfig = {
    root,
    appType: "custom",
    clearScreen: false,
    envPrefix: [],
    build: { assetsInlineLimit: 0 }, // as in the build
    optimizeDeps: { entries: viewModules(root, entry) },
    server: { middlewareMode: true, ws: { server: upgrades } },
    plugins: [
      // EnvFiles reads the files of variables.
      fixOptions({ base: DEV_BASE, envDir: false, server: { cors: false } }, (message) =>
        console.error(`\n  ${message}`),
      ),
      plugins,
      emptyStyleSheets(),
      developmentScripts(),
      adaptViteClient(),
      violations.plugin(),
      completeEdits({ root, envFiles, restarts }),
      restartWithConfig({ envFiles, restarts, log: (message) => console.error(message) }),
      checkPackageOptions(root, (message) => console.error(message)),
      runModules(),
      retryFailedResolves(),
      rejectMissingAssets(),
      reportEdits(edits, envFiles),
      logViteErrors({
        errors,
        reload: () => loader.load(),
        editCount: () => versions.count,
        onLoadFailure: (error) => showLoadFailure(vite, error, { edits, maps }),
      }),
      browserErrors(errors, maps),
      pageChecks.plugin(),
      explainOverlayErrors(edits),
    ],
  };
  const vite = await loadingConfig(root, () => createServer(viteConfig));
  requireRunnable(vite.environments.ssr);
  const loader = new DevAppLoader(vite, { entry, restarts });
  const { panel, handle: handlePanel } = servePanel({ root, loadApp: () => loader.load(), errors });
  edits.on("all", () => panel.changed("application"));
  const parts = { loader, errors, maps, restarts, panel, versions, pageChecks, unserved };
  const app: DevApp = { vite, entry, registry, config, buildTool, ...parts };
  const handle = versions.handle(violations.handle(handlePanel(serveBrowserFiles(app, serveApplication(app)))));
  const allowedHosts = () => vite.config.server.allowedHosts;
  http.on("request", (...exchange) => {
    allowOnlyThisMachine({ allowedHosts: allowedHosts(), base: app.loader.base }, handle)(...exchange);
  });
  guardUpgrades(http, upgrades, allowedHosts);

  const { address } = await listenOn(http, config).catch(async (error: unknown) => {
    await vite.close(); // it would keep the process alive
    throw error;
  });
  const notice = typesNotice(root, process.env);
  const lines = [panelLine(address), notice ? `  ${notice}\n` : ""].join("");
  console.log(`\n  tsweb  ready at ${address} in ${Math.round(performance.now())} ms\n${lines}`);
  for (const note of htmlFileNotes(root, vite.config.publicDir)) console.error(`  ${note}\n`);
  stopWithParent(async () => {
    await vite.close();
    http.closeAllConnections();
  });
  surviveErrors(errors, root);
  watchEventLoop(root);
  notifyParent({ type: "tsweb:listening", port: Number(new URL(address).port) });
}

interface DevApp {
  readonly vite: ViteDevServer;
  readonly entry: string;
  readonly registry: BuildRegistry;
  readonly config: Config;
  readonly buildTool: BuildToolAccess;
  readonly loader: DevAppLoader;
  readonly errors: ErrorLog;
  readonly maps: ServedSourceMaps;
  readonly restarts: Restarts;
  readonly panel: DevelopmentPanel;
  readonly versions: EditVersions;
  readonly pageChecks: PageChecks;
  readonly unserved: UnservedRequests;
}

/** Passes requests for the browser's files to Vite, and all others to the application. */
function serveBrowserFiles({ vite, entry, registry, loader, maps, restarts }: DevApp, next: NodeHandler): NodeHandler {
  const files = new BrowserFiles();
  const application = () => {
    const { client, ssr } = vite.environments; // others after a restart
    return { client, ssr, entry, registry };
  };
  const find = async (url: string) => {
    const found = files.find(url, application());
    if (found !== undefined || !url.startsWith(DEV_BASE)) return found;
    // After a restart, the files of the application are known once it is loaded. The handler of the application shows errors.
    const isLoaded = await loader.load().then(Boolean, () => false);
    return isLoaded ? files.find(url, application()) : undefined;
  };
  return async (request, response) => {
    const { method, url = "/" } = request;
    const isRead = method === "GET" || method === "HEAD";
    const found = isRead ? await find(url) : undefined;
    if (found === undefined) return next(request, response);
    request.url = found;
    response.once("finish", () => {
      files.record(application());
      maps.record(found, vite.environments.client);
    });
    setHeaders(request, response);
    const refuse = () => {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
      response.end("This file could not be loaded. The terminal of the development server shows why.\n");
    };
    restarts.serve(request, response, () => vite.middlewares(request, response, refuse));
  };
}

/** Handles requests with the application as its files are now. An error while it loads is shown. */
function serveApplication(dev: DevApp): NodeHandler {
  const handlers = new WeakMap<App, NodeHandler>();
  const handlerOf = (app: App): NodeHandler => {
    const handler = handlers.get(app) ?? node(app);
    handlers.set(app, handler);
    return handler;
  };
  return async (request, response) => {
    const handler = await loadCurrent(dev).then(handlerOf, (error: unknown) => failureHandler(error, dev));
    handler(request, response);
  };
}

/** Returns the application as its files are now, with the data of the development server. */
async function loadCurrent({
  vite,
  entry,
  registry,
  buildTool,
  loader,
  errors,
  panel,
  versions,
  pageChecks,
  unserved,
}: DevApp): Promise<App> {
  const app = await loader.load();
  const { root, publicDir } = vite.config;
  const internals = requireInternals(app, "tsweb dev");
  const client = (): Client => {
    const inbound = currentContext()?.inbound;
    return inbound ? clientOf(inbound) : { address: undefined, host: undefined };
  };
  const explainValue = (error: unknown) => {
    const inbound = currentContext()?.inbound;
    return explainThrownValue(error, root, inbound && declarationOf(internals, inbound));
  };
  const showError = async (thrown: unknown, id: string) =>
    errorPageFor(client(), {
      error: await explainValue(thrown),
      root,
      id,
      nonce: buildTool.nonce,
      edits: versions.atRequest,
      pageChecks,
    });
  const adviseUnloadedPage = async (path: string) => {
    if (!isThisMachine(client())) return undefined; // other machines receive no names of files
    const files = importedModules(entry, moduleGraphOf(vite.environments.ssr));
    return unloadedPageAdvice(path, { root, entry, files });
  };
  const { pages, routes } = internals.inspection;
  const paths = [...pages, ...routes].map(({ path }) => path);
  const reportUnserved = async (allow?: string) => {
    const inbound = currentContext()?.inbound;
    if (!inbound || !isThisMachine(client())) return;
    await unserved.report(inbound, { root, publicDir, base: app.base, paths, adviseUnloadedPage }, allow);
  };
  panel.addApp(internals);
  internals.setDevelopment({
    assets: developmentAssets(vite.environments.ssr, { entry, nonce: buildTool.nonce }),
    buildTool,
    called: calledFunctions(vite, { entry, registry }),
    showError,
    adviseUnloadedPage,
    reportUnserved,
    reportRedirectLoop: (redirect) => unserved.redirectedToItself(redirect),
    redirectCreated: (redirect) => unserved.redirectCreated(redirect),
    printError: (error, event) => {
      if (isErrorLike(error)) return errors.print(error, event);
      void explainValue(error).then((explained) => errors.print(explained, event)); // never rejects
    },
    publicFiles:
      publicDir && existsSync(publicDir)
        ? { dir: publicDir, includes: (path) => !namesServerOnlyUrl(path, publicDir) }
        : null,
    project: projectInfo(root),
    observer: panel.observer,
  });
  return app;
}

/** Returns a handler that shows why the application could not be loaded, and logs it. */
function failureHandler(error: unknown, dev: DevApp): NodeHandler {
  const { config, buildTool, loader, errors, versions, pageChecks } = dev;
  const { root } = dev.vite.config;
  return node({
    async fetch(request, { address }) {
      errors.print(error);
      const inbound = new FetchInboundRequest(request, address);
      const client = clientOf(inbound);
      const showError = (id: string) =>
        errorPageFor(client, { error, root, id, nonce: buildTool.nonce, edits: versions.atRequest, pageChecks });
      return toFetchResponse(await respondToLoadFailure(inbound, { config, buildTool, base: loader.base, showError }));
    },
  });
}

/** Returns who sent a request. The address of a proxy on this machine is not that of the client, which is unknown. */
function clientOf(inbound: InboundRequest): Client {
  const address = isForwarded((name) => inbound.header(name)) ? undefined : inbound.address;
  return { address, host: inbound.header("host") ?? undefined };
}

/** Returns the page that shows an error. Only clients on this machine see the error: it has source text of the server. */
async function errorPageFor(
  client: Client,
  { error, root, pageChecks, ...options }: { error: unknown; root: string; pageChecks: PageChecks } & ErrorPageOptions,
): Promise<string> {
  if (!isThisMachine(client)) return remoteErrorPage(options);
  const explained = explainError(error, root);
  pageChecks.record(options.id, { error: explained, edits: options.edits });
  return errorPage(explained, options);
}
