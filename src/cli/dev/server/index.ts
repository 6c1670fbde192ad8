/**
 * The development server: it loads and starts the application, watches its files, and serves the modules of browsers.
 */

export { DevAppLoader, requireRunnable } from "./app-loader.ts";
export {
  DEV_BASE,
  developmentAssets,
  ERROR_PAGE_SCRIPT,
  moduleGraphOf,
  POLICY_REPORTS_PATH,
  rejectMissingAssets,
  retryFailedResolves,
  VIRTUAL,
} from "./assets.ts";
export { ServedSourceMaps, serveBrowserFiles } from "./browser-files.ts";
export { EditVersions, interceptMessages, reloadLatePages } from "./edit-versions.ts";
export { completeEdits, reportEdits } from "./file-watching.ts";
export { runModules } from "./module-runner.ts";
export { panelLine, servePanel } from "./panel.ts";
export {
  allowOnlyThisMachine,
  type Client,
  guardUpgrades,
  isForwarded,
  isThisMachine,
  setHeaders,
} from "./requests.ts";
export { Restarts, restartWithConfig } from "./restart.ts";
export { scanViews } from "./view-modules.ts";
