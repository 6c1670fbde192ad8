/**
 * Environments for tests of the configuration, and helpers that load them.
 */
import { type Config, ConfigError, type ConfigOptions, type Environment, loadConfig } from "../../src/config/index.ts";

/** Three secrets that are valid in production. */
export const SECRET = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
export const SECRET_2 = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
export const SECRET_3 = "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13";

/** The options of an application that runs from its sources, and of one that was built. */
export const DEV: ConfigOptions = { built: false, projectDir: "/srv/app" };
export const BUILT: ConfigOptions = { built: true, projectDir: "/srv/app" };

/** Loads the configuration of a development environment. */
export function loadDevelopment(env: Environment = {}): Config {
  return loadConfig(env, DEV);
}

/**
 * Loads an invalid environment and returns the error.
 *
 * @throws Error if the environment is valid
 */
export function configErrorOf(env: Environment, options: ConfigOptions = DEV): ConfigError {
  try {
    loadConfig(env, options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("The environment is valid, but the test expects a ConfigError.");
}

/** Returns the names of the invalid variables. */
export function invalidVariables(env: Environment, options: ConfigOptions = DEV): string[] {
  return configErrorOf(env, options).problems.map(({ variable }) => variable);
}
