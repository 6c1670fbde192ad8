import { existsSync } from "node:fs";
import { posix } from "node:path";
import type { ViteDevServer } from "vite";
import { type NodeHandler, node } from "../../adapters/index.ts";
import type { App } from "../../app.ts";
import { type BuildRegistry, namesServerOnlyUrl } from "../../compile/index.ts";
import type { Config } from "../../config/index.ts";
import {
  type BuildToolAccess,
  currentContext,
  FetchInboundRequest,
  type InboundRequest,
  toFetchResponse,
} from "../../http/index.ts";
import { openapi } from "../../openapi/index.ts";
import type { DevelopmentPanel } from "../../panel/index.ts";
import { type CalledFunction, requireInternals, respondToLoadFailure } from "../../server/index.ts";
import { type ErrorLog, explainError, isThrownError } from "../errors/index.ts";
import { importedModules } from "../modules/index.ts";
import { projectInfo } from "../project/index.ts";
import {
  declarationOf,
  type ErrorPageOptions,
  errorPage,
  explainThrownValue,
  type PageChecks,
  remoteErrorPage,
  type UnpublishedChanges,
  type UnservedRequests,
  unloadedPageAdvice,
} from "./advice/index.ts";
import {
  type Client,
  type DevAppLoader,
  developmentAssets,
  type EditVersions,
  isForwarded,
  isThisMachine,
  moduleGraphOf,
  type Restarts,
  type ServedSourceMaps,
} from "./server/index.ts";

/** The parts of a development server that its handlers of requests share. */
export interface DevApp {
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
  readonly unpublished: UnpublishedChanges;
}

/** Handles requests with the application as its files are now. An error while it loads is shown. */
export function serveApplication(dev: DevApp): NodeHandler {
  const handlers = new WeakMap<App, NodeHandler>();
  const reportDefaultLimit = defaultLimitReport();
  const handlerOf = (app: App): NodeHandler => {
    const handler = handlers.get(app) ?? node(app);
    handlers.set(app, handler);
    return handler;
  };
  return async (request, response) => {
    const handler = await loadCurrent(dev, reportDefaultLimit).then(handlerOf, (error: unknown) =>
      failureHandler(error, dev),
    );
    handler(request, response);
  };
}

/**
 * Returns a function that prints once that the default limit would have refused a call in production: it is not applied here, so
 * that nobody would notice it before.
 */
function defaultLimitReport(): (limit: string) => void {
  let isPrinted = false;
  return (limit) => {
    if (isPrinted) return;
    isPrinted = true;
    console.error(
      `\nThis call would have been refused in production, with 429: the default limit is ${limit}. \`tsweb dev\` applies only ` +
        "a limit that is set. Call less often, for example after a pause in typing, or set a limit: " +
        "new App({ rate: { calls: 600, seconds: 60 } }). docs/limits.md describes both. This is printed once.\n",
    );
  };
}

/** Returns the application as its files are now, with the data of the development server. */
async function loadCurrent(dev: DevApp, reportDefaultLimit: (limit: string) => void): Promise<App> {
  const { vite, entry, registry, buildTool, loader, errors, panel, versions, pageChecks, unserved, unpublished } = dev;
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
    assets: developmentAssets(vite.environments.ssr, { entry, nonce: buildTool.nonce, registry }),
    buildTool,
    called: calledFunctions(vite, { entry, registry }),
    showError,
    adviseUnloadedPage,
    reportUnserved,
    reportRedirectLoop: (redirect) => unserved.redirectedToItself(redirect),
    reportDefaultLimit,
    redirectCreated: (redirect) => unserved.redirectCreated(redirect),
    printError: (error, event) => {
      if (isThrownError(error)) return errors.print(error, event);
      void explainValue(error).then((explained) => errors.print(explained, event)); // never rejects
    },
    publicFiles:
      publicDir && existsSync(publicDir)
        ? { dir: publicDir, includes: (path) => !namesServerOnlyUrl(path, publicDir) }
        : null,
    openapi: () => JSON.stringify(openapi(internals.inspection, projectInfo(root))),
    observer: unpublished.observe(internals, panel.observer),
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

/**
 * Returns the server functions that the current browser code calls.
 *
 * The registry also has the calls of a module before its last edit, and of modules that nothing imports any more: no
 * browser loads those again, so that they would not be compiled again. Both are left out.
 */
function calledFunctions(
  { config, environments }: ViteDevServer,
  { entry, registry }: { entry: string; registry: BuildRegistry },
): CalledFunction[] {
  const { client, ssr } = environments;
  const imported = importedModules(entry, moduleGraphOf(ssr));
  const isCompiled = (file: string) =>
    [...(client.moduleGraph.getModulesByFile(file) ?? [])].some(({ transformResult }) => transformResult !== null);
  return registry.stubs().filter(({ importer }) => {
    const file = posix.join(config.root, importer);
    return imported.has(file) && isCompiled(file);
  });
}
