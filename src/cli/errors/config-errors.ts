import { type ConfigEnv, loadConfigFromFile } from "vite";
import { ProjectError } from "../../compile/index.ts";
import { BuildError } from "../project/index.ts";
import { locateInConfig } from "./config-source.ts";
import { errorText } from "./error-log.ts";
import { explainError, heading } from "./explain-error.ts";

/**
 * Runs work that loads a Vite config. The stacks of the errors that the config throws refer to its own lines. Rolldown's
 * warnings about missing packages are not printed: the error that follows has the location and the fix.
 *
 * @throws what the work throws
 */
export async function withConfigStacks<T>(work: () => Promise<T>): Promise<T> {
  const { warn } = console;
  const filtered: typeof warn = (...values) => {
    if (!String(values[0]).includes("[UNRESOLVED_IMPORT]")) warn(...values);
  };
  console.warn = filtered;
  process.setSourceMapsEnabled(true);
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) void error.stack; // it is computed, and mapped, when it is first read
    throw error;
  } finally {
    process.setSourceMapsEnabled(false); // Vite maps the stacks of the application by itself
    if (console.warn === filtered) console.warn = warn;
  }
}

/**
 * Runs work that loads a Vite config when a command starts.
 *
 * @throws BuildError with message, location and source lines, if the config cannot be loaded; ProjectError for another mistake
 */
export async function loadingConfig<T>(root: string, work: () => Promise<T>): Promise<T> {
  return withConfigStacks(work).catch((error: unknown) => {
    throw error instanceof ProjectError ? error : new BuildError(configErrorText(error, root));
  });
}

/** Formats an error of a Vite config for a terminal: message, location and source lines. */
function configErrorText(error: unknown, root: string): string {
  const explained = explainError(locateInConfig(error, root), root);
  // A stack without a line of the project is Vite's.
  return explained.location ? errorText(explained) : `\n${heading(explained)}\n`;
}

/**
 * Loads the Vite config of a project once more, and returns its error with its location as text: when Vite restarts, it
 * prints the message only. Returns `undefined` if the config can be loaded, or its error has no location.
 */
export async function locateConfigError(root: string, env: ConfigEnv): Promise<string | undefined> {
  try {
    await withConfigStacks(() => loadConfigFromFile(env, undefined, root, "silent"));
    return undefined;
  } catch (error) {
    const { location } = explainError(locateInConfig(error, root), root);
    return location ? configErrorText(error, root) : undefined;
  }
}
