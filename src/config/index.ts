export { type Config, ConfigError, type ConfigProblem, type Environment, loadConfig } from "./config.ts";
export { checkKnown } from "./known-options.ts";
