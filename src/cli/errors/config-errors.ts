import { stripVTControlCharacters } from "node:util";
import { type ConfigEnv, loadConfigFromFile } from "vite";
import { BuildError } from "../project/index.ts";
import { errorText } from "./error-log.ts";
import { explainError } from "./explain-error.ts";

/** Vite compiles a config into such a file, and removes it. */
const COMPILED_CONFIG = /(?:file:\/\/)?\S*\.vite-temp\/(vite\.config\.\w+)\.timestamp\S*\.mjs/g;

/**
 * Runs work that loads a Vite config. The stacks of the errors that the config throws refer to its own lines.
 *
 * @throws what the work throws
 */
async function withConfigStacks<T>(work: () => Promise<T>): Promise<T> {
  process.setSourceMapsEnabled(true);
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) void error.stack; // it is computed, and mapped, when it is first read
    throw error;
  } finally {
    process.setSourceMapsEnabled(false); // Vite maps the stacks of the application by itself
  }
}

/**
 * Runs work that loads a Vite config when a command starts.
 *
 * @throws BuildError with message, location and source lines, if the config cannot be loaded
 */
export async function loadingConfig<T>(root: string, work: () => Promise<T>): Promise<T> {
  return withConfigStacks(work).catch(async (error: unknown) => {
    throw new BuildError(await configErrorText(error, root));
  });
}

/** Formats an error of a Vite config for a terminal: message, location and source lines. */
async function configErrorText(error: unknown, root: string): Promise<string> {
  const explained = explainError(error, root);
  const message = stripVTControlCharacters(explained.message).replace(COMPILED_CONFIG, "$1").trim();
  // An error of syntax has its location and source lines in its message. A stack without a line of the project is Vite's.
  return explained.location ? errorText({ ...explained, message }) : `\n${explained.name}: ${message}\n`;
}

/**
 * Loads the Vite config of a project once more, and returns its error with its location as text: when Vite restarts, it
 * prints the message only. Returns `undefined` if the config can be loaded, or the message contains the location.
 */
export async function locateConfigError(root: string, env: ConfigEnv): Promise<string | undefined> {
  try {
    await withConfigStacks(() => loadConfigFromFile(env, undefined, root, "silent"));
    return undefined;
  } catch (error) {
    const { location } = explainError(error, root);
    return location ? configErrorText(error, root) : undefined;
  }
}
