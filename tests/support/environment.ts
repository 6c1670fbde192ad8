/**
 * Environments as tests of the configuration read them, and what is complained of in those that cannot be used.
 */
import { type Config, ConfigError, type ConfigOptions, type Environment, loadConfig } from "../../src/config/config.ts";

/** Three secrets that are taken everywhere. */
export const SECRET = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
export const SECRET_2 = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
export const SECRET_3 = "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13";

/** An application that runs from its sources, and one that was built. */
export const DEV: ConfigOptions = { built: false, projectDir: "/srv/app" };
export const BUILT: ConfigOptions = { built: true, projectDir: "/srv/app" };

/** Reads a development environment. */
export function loadDevelopment(env: Environment = {}): Config {
  return loadConfig(env, DEV);
}

/**
 * Reads an environment that cannot be used, and gives the error.
 *
 * @throws Error when it was taken
 */
export function configErrorOf(env: Environment, options: ConfigOptions = DEV): ConfigError {
  try {
    loadConfig(env, options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("It was taken.");
}

/** Gives the variables that are complained of. */
export function invalidVariables(env: Environment, options: ConfigOptions = DEV): string[] {
  return configErrorOf(env, options).problems.map(({ variable }) => variable);
}
