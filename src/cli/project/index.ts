export { ENV_FILES, EnvFiles, sourceOfVariable } from "./env-files.ts";
export { htmlFileNotes } from "./html-files.ts";
export { isNamedInProject } from "./named-variables.ts";
export { exitAfterOutput, exitWithError, UsageError } from "./print-error.ts";
export {
  BuildError,
  findEntry,
  noApplicationError,
  projectInfo,
  relativeFile,
  requireUsablePath,
  STYLE_SHEET,
} from "./project.ts";
export { typesNotice } from "./types-notice.ts";
