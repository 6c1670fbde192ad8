export { type Config, ConfigError, type ConfigProblem, type Environment, loadConfig } from "./config.ts";
export { rejectUnknownOptions } from "./unknown-options.ts";
