import { type Config, loadConfig, unreportedMisspellings } from "../../config/index.ts";
import { environmentErrorText } from "../errors/index.ts";
import { BuildError } from "../project/index.ts";

/**
 * Reads the configuration from the environment, and prints the misspelled variables.
 *
 * @throws BuildError that lists every invalid variable, with where it is set
 */
export function loadEnvironment(root: string): Config {
  const config = readConfig(root);
  for (const { variable, problem, fix } of unreportedMisspellings(process.env)) {
    console.error(`\n  ${variable} ${problem} ${fix}`);
  }
  return config;
}

function readConfig(root: string): Config {
  try {
    return loadConfig(process.env, { built: false, projectDir: root, hasSharedBus: true });
  } catch (error) {
    const message = environmentErrorText(error, root);
    throw message === undefined ? error : new BuildError(message);
  }
}
