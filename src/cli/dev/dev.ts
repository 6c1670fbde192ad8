import { EventEmitter } from "node:events";
import { createServer as createHttpServer } from "node:http";
import inspector from "node:inspector";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { createServer, defaultExternalConditions, type InlineConfig, normalizePath, type Plugin } from "vite";
import { listenOn } from "../../adapters/index.ts";
import { compileStep } from "../../compile/index.ts";
import { type Config, loadConfig, unreportedMisspellings, unusedVariables } from "../../config/index.ts";
import { randomHex } from "../../http/index.ts";
import { ErrorLog, environmentErrorText, fixOptions, loadingConfig } from "../errors/index.ts";
import { emptyStyleSheets } from "../modules/index.ts";
import { BuildError, EnvFiles, findEntry, htmlFileNotes, isNamedInProject, typesNotice } from "../project/index.ts";
import {
  browserErrors,
  checkPackageOptions,
  explainOverlayErrors,
  explainThrownValue,
  logViteErrors,
  PageChecks,
  PolicyViolations,
  reloadAfterEdits,
  UnpublishedChanges,
  UnservedRequests,
  withUnawaitedFileCall,
} from "./advice/index.ts";
import { type ChildMessage, CONDITION, CONDITION_FLAG, STOP } from "./messages.ts";
import { adaptViteClient, developmentScripts } from "./page-scripts.ts";
import { type DevApp, serveApplication } from "./serve-application.ts";
import {
  allowOnlyThisMachine,
  completeEdits,
  DEV_BASE,
  DevAppLoader,
  EditVersions,
  guardUpgrades,
  POLICY_REPORTS_PATH,
  panelLine,
  Restarts,
  rejectMissingAssets,
  reloadLatePages,
  reportEdits,
  requireRunnable,
  restartWithConfig,
  retryFailedResolves,
  runModules,
  ServedSourceMaps,
  scanViews,
  serveBrowserFiles,
  servePanel,
} from "./server/index.ts";

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
  const log = (message: string) => console.error(message);
  const violations = new PolicyViolations(buildTool, (message) => console.error(`\n${message}\n`));
  const errors = new ErrorLog(normalizePath(root), log);
  edits.on("all", () => errors.handleEdit());
  const unserved = new UnservedRequests(edits, errors, (message) => console.error(`\n${message}\n`));
  const unpublished = new UnpublishedChanges(edits, errors, root);
  const maps = new ServedSourceMaps();
  const restarts = new Restarts();
  const pageChecks = new PageChecks({ maps, currentEdits: () => versions.current });
  const viteConfig: InlineConfig = {
    root,
    appType: "custom",
    clearScreen: false,
    envPrefix: [],
    build: { assetsInlineLimit: 0 }, // as in the build
    server: { middlewareMode: true, ws: { server: upgrades } },
    plugins: [
      fixedOptions(),
      plugins,
      scanViews(entry),
      emptyStyleSheets(),
      developmentScripts(),
      adaptViteClient(),
      violations.plugin(),
      completeEdits({ root, envFiles, restarts }),
      restartWithConfig({ envFiles, restarts, log }),
      checkPackageOptions(root, log),
      runModules({ reload: () => reload(), printError: (error, event) => errors.print(error, event) }),
      resolveBundles(),
      retryFailedResolves(),
      rejectMissingAssets(),
      reportEdits(edits, envFiles),
      logViteErrors({ errors, reload: () => reload() }),
      browserErrors(errors, maps),
      pageChecks.plugin(),
      reloadLatePages(),
      explainOverlayErrors(edits),
    ],
  };
  const vite = await loadingConfig(root, () => createServer(viteConfig));
  requireRunnable(vite.environments.ssr);
  const loader = new DevAppLoader(vite, { entry, restarts });
  const reload = reloadAfterEdits(loader, { vite, errors, edits, versions, maps });
  const { panel, handle: handlePanel } = servePanel({ root, loadApp: () => loader.load(), errors });
  edits.on("all", () => panel.changed("application"));
  const parts = { loader, errors, maps, restarts, panel, versions, pageChecks, unserved, unpublished };
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
  printReady(address, { root, publicDir: vite.config.publicDir });
  stopWithParent(async () => {
    await Promise.all([loader.close(), vite.close()]);
    http.closeAllConnections();
  });
  surviveErrors(errors, root);
  watchEventLoop(root);
  notifyParent({ type: "tsweb:listening", port: Number(new URL(address).port) });
  await loader.load().catch((error: unknown) => errors.print(error)); // `on_start` runs without a request
}

/** Returns the plugin that reports options of the project's Vite config that `tsweb dev` sets itself. */
function fixedOptions(): Plugin {
  // EnvFiles reads the files of variables.
  const options = { base: DEV_BASE, envDir: false, server: { cors: false } } as const;
  return fixOptions(options, (message) => console.error(`\n  ${message}`));
}

/** Prints the address of the server, and what the project should know at the start. */
function printReady(address: string, { root, publicDir }: { readonly root: string; readonly publicDir: string }): void {
  const notice = typesNotice(root, process.env);
  const lines = [panelLine(address), notice ? `  ${notice}\n` : ""].join("");
  console.log(`\n  tsweb  ready at ${address} in ${Math.round(performance.now())} ms\n${lines}`);
  for (const note of htmlFileNotes(root, publicDir)) console.error(`  ${note}\n`);
}

/**
 * Reads the configuration from the environment, and prints the misspelled variables, also those that are set besides the right ones.
 *
 * @throws BuildError that lists every invalid variable, with where it is set
 */
function loadEnvironment(root: string): Config {
  const config = readConfig(root);
  const unused = unusedVariables(process.env, (name) => isNamedInProject(root, name));
  for (const { variable, problem, fix } of [...unreportedMisspellings(process.env), ...unused]) {
    console.error(`\n  ${variable} ${problem} ${fix}`);
  }
  return config;
}

function readConfig(root: string): Config {
  try {
    return loadConfig(process.env, { built: false, projectDir: root, hasSharedBus: true });
  } catch (error) {
    const message = environmentErrorText(error, root);
    throw message === undefined ? error : new BuildError(message);
  }
}

/**
 * Resolves what the application imports from the package as Node does in this process. Otherwise the application would have another
 * instance of it. With a debugger, the process does not have the condition. Vite resolves the imports of its config without it.
 */
function resolveBundles(): Plugin {
  return {
    name: "tsweb:resolve-bundles",
    config: () =>
      process.execArgv.includes(CONDITION_FLAG)
        ? { environments: { ssr: { resolve: { externalConditions: [CONDITION, ...defaultExternalConditions] } } } }
        : undefined,
  };
}

/** Sends a message to the parent process, if there is one. */
function notifyParent(message: ChildMessage): void {
  process.send?.(message, undefined, undefined, () => undefined); // the parent may have ended
}

/** Calls `close` and exits with status 0 when this process receives a signal, or the parent stops it or has ended. */
function stopWithParent(close: () => Promise<void>): void {
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    notifyParent({ type: "tsweb:stopping" });
    await close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
  process.on("disconnect", stop);
  process.on("message", (message) => {
    if (message === STOP) void stop();
  });
  if (process.connected === false) void stop(); // the parent was killed before; `undefined` without a parent
}

/**
 * Prints errors that the application throws outside of requests, and continues. Without listeners, Node would exit, as a
 * built application does after an uncaught exception.
 *
 * @param errors prints them
 * @param root the application's folder
 */
function surviveErrors(errors: ErrorLog, root: string): void {
  process.on("unhandledRejection", async (error) => {
    const located = await explainThrownValue(await withUnawaitedFileCall(error, root), root);
    errors.print(located, "Unhandled promise rejection. Await the promise, or catch its error:");
  });
  process.on("uncaughtException", (error) => {
    errors.print(
      error,
      "Uncaught exception outside of a request. It would end a built application. Catch it where it is thrown:",
    );
  });
}

/** How often this thread shows that its event loop runs, in milliseconds. */
const BEAT_MS = 500;

/** The data of the thread that watches this one. */
export interface WatchdogData {
  /** A number that changes as long as the event loop runs. */
  readonly beats: SharedArrayBuffer;
  readonly root: string;
  /** The id of the parent process. The thread may start after it was killed. */
  readonly parent: number;
}

/**
 * Watches the event loop of this thread from another thread, which reports to the parent process when it is blocked and
 * when it runs again. Does nothing while a debugger is attached: it blocks the event loop on purpose.
 *
 * @param root the application's folder
 */
function watchEventLoop(root: string): void {
  if (inspector.url() !== undefined) return;
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const view = new Int32Array(beats);
  setInterval(() => Atomics.add(view, 0, 1), BEAT_MS).unref();
  const workerData: WatchdogData = { beats, root, parent: process.ppid };
  new Worker(fileURLToPath(new URL("./watchdog-worker.js", import.meta.url)), { workerData }).unref();
}
