import { type Config, loadConfig, unreportedMisspellings, unusedVariables } from "../../config/index.ts";
import { environmentErrorText } from "../errors/index.ts";
import { BuildError, isNamedInProject } from "../project/index.ts";

/**
 * Reads the configuration from the environment, and prints the misspelled variables, also those that are set besides the right ones.
 *
 * @throws BuildError that lists every invalid variable, with where it is set
 */
export function loadEnvironment(root: string): Config {
  const config = readConfig(root);
  const unused = unusedVariables(process.env, (name) => isNamedInProject(root, name));
  for (const { variable, problem, fix } of [...unreportedMisspellings(process.env), ...unused]) {
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
