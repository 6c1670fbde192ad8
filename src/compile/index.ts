/** The compile step for the CLI. The public entry point `tsweb/vite` is `vite.ts`. */
export type { BuildRegistry, PageViews, StubUse } from "./build-registry.ts";
export { namesServerOnlyUrl } from "./dev-url-guard.ts";
export { isServerModule, ProjectError } from "./modules/index.ts";
export { compileStep } from "./plugin.ts";
export { missingExportError, missingImportError, packageFolder, readPackageJson } from "./rules/index.ts";
