export { type Config, type ConfigOptions, type Environment, loadConfig } from "./config.ts";
export { ConfigError, type ConfigProblem } from "./config-error.ts";
export { rejectUnknownOptions } from "./unknown-options.ts";
