/**
 * The development server: it loads and starts the application, watches its files, and serves the modules of browsers.
 */

export { DevAppLoader, requireRunnable } from "./app-loader.ts";
export {
  DEV_BASE,
  developmentAssets,
  EDIT_AGE_HEADER,
  EDIT_EFFECT_HEADER,
  EDITS_PATH,
  ERROR_EVENT,
  ERROR_PAGE_SCRIPT,
  moduleGraphOf,
  PAGE_CHECK_EVENT,
  POLICY_REPORTS_PATH,
  UPDATE_FAILURE_EVENT,
  VIOLATIONS_EVENT,
  VIRTUAL,
  WARNING_EVENT,
} from "./assets.ts";
export { serveBrowserFiles } from "./browser-files.ts";
export { EditVersions } from "./edit-versions.ts";
export { completeEdits, reportEdits } from "./file-watching.ts";
export { rejectMissingAssets, retryFailedResolves } from "./missing-files.ts";
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
export { ServedSourceMaps } from "./source-maps.ts";
export { scanViews } from "./view-modules.ts";
