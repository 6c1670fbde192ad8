export { ENV_FILES, EnvFiles, isNamedInProject, sourceOfVariable } from "./env-files.ts";
export { filesBelow } from "./files-below.ts";
export {
  BuildError,
  exitAfterOutput,
  exitWithError,
  findEntry,
  htmlFileNotes,
  noApplicationError,
  projectInfo,
  readIfExists,
  relativeFile,
  requireUsablePath,
  STYLE_SHEET,
  typesNotice,
  UsageError,
} from "./project.ts";
