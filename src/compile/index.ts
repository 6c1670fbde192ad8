/** The compile step for the CLI. The public entry point `tsweb/vite` is `vite.ts`. */
export type { BuildRegistry, PageViews, StubUse } from "./build-registry.ts";
export { namesServerOnlyUrl } from "./dev-url-guard.ts";
export { missingImportError } from "./missing-imports.ts";
export { packageFolder, readPackageJson } from "./package-folder.ts";
export { compileStep } from "./plugin.ts";
export { ProjectError } from "./project-error.ts";
export { isServerModule } from "./server-only.ts";
