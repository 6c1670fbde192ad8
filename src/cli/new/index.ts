export { createProject } from "./new.ts";
export { detectPackageManager } from "./package-manager.ts";
