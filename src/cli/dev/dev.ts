import { EventEmitter } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, defaultExternalConditions, type InlineConfig, normalizePath, type Plugin } from "vite";
import { listenOn } from "../../adapters/index.ts";
import { compileStep } from "../../compile/index.ts";
import { type Config, loadConfig, unreportedMisspellings, unusedVariables } from "../../config/index.ts";
import { randomHex } from "../../http/index.ts";
import { ErrorLog, environmentErrorText, fixOptions, loadingConfig } from "../errors/index.ts";
import { emptyStyleSheets } from "../modules/index.ts";
import { BuildError, EnvFiles, findEntry, htmlFileNotes, isNamedInProject, typesNotice } from "../project/index.ts";
import { DevAppLoader, requireRunnable } from "./app-loader.ts";
import { DEV_BASE, POLICY_REPORTS_PATH } from "./assets.ts";
import { browserErrors } from "./browser-errors.ts";
import { serveBrowserFiles } from "./browser-files.ts";
import { EditVersions } from "./edit-versions.ts";
import { explainOverlayErrors, logViteErrors } from "./error-messages.ts";
import { completeEdits, reportEdits } from "./file-watching.ts";
import { CONDITION, CONDITION_FLAG } from "./messages.ts";
import { runModules } from "./module-runner.ts";
import { checkPackageOptions } from "./package-options.ts";
import { PageChecks, reloadAfterEdits } from "./page-checks.ts";
import { adaptViteClient, developmentScripts } from "./page-scripts.ts";
import { panelLine, servePanel } from "./panel.ts";
import { PolicyViolations } from "./policy-violations.ts";
import { allowOnlyThisMachine, guardUpgrades } from "./requests.ts";
import { Restarts, restartWithConfig } from "./restart.ts";
import { rejectMissingAssets, retryFailedResolves } from "./retry-resolve.ts";
import type { DevApp } from "./serve-application.ts";
import { serveApplication } from "./serve-application.ts";
import { ServedSourceMaps } from "./source-maps.ts";
import { notifyParent, stopWithParent, surviveErrors } from "./survival.ts";
import { UnservedRequests } from "./unserved-requests.ts";
import { scanViews } from "./view-modules.ts";
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
    server: { middlewareMode: true, ws: { server: upgrades } },
    plugins: [
      // EnvFiles reads the files of variables.
      fixOptions({ base: DEV_BASE, envDir: false, server: { cors: false } }, (message) =>
        console.error(`\n  ${message}`),
      ),
      plugins,
      scanViews(entry),
      emptyStyleSheets(),
      developmentScripts(),
      adaptViteClient(),
      violations.plugin(),
      completeEdits({ root, envFiles, restarts }),
      restartWithConfig({ envFiles, restarts, log: (message) => console.error(message) }),
      checkPackageOptions(root, (message) => console.error(message)),
      runModules({ reload: () => reload(), printError: (error, event) => errors.print(error, event) }),
      resolveBundles(),
      retryFailedResolves(),
      rejectMissingAssets(),
      reportEdits(edits, envFiles),
      logViteErrors({
        errors,
        reload: () => reload(),
      }),
      browserErrors(errors, maps),
      pageChecks.plugin(),
      explainOverlayErrors(edits),
    ],
  };
  const vite = await loadingConfig(root, () => createServer(viteConfig));
  requireRunnable(vite.environments.ssr);
  const loader = new DevAppLoader(vite, { entry, restarts });
  const reload = reloadAfterEdits(loader, { vite, errors, edits, versions, maps });
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
    await Promise.all([loader.close(), vite.close()]);
    http.closeAllConnections();
  });
  surviveErrors(errors, root);
  watchEventLoop(root);
  notifyParent({ type: "tsweb:listening", port: Number(new URL(address).port) });
  await loader.load().catch((error: unknown) => errors.print(error)); // `on_start` runs without a request
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
