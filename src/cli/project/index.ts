export { ENV_FILES, EnvFiles, isNamedInProject, sourceOfVariable } from "./env-files.ts";
export {
  BuildError,
  exitAfterOutput,
  exitWithError,
  findEntry,
  noApplicationError,
  projectInfo,
  relativeFile,
  requireUsablePath,
  STYLE_SHEET,
  UsageError,
} from "./project.ts";
export { htmlFileNotes, typesNotice } from "./start-notes.ts";
