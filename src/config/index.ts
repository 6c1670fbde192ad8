export { type Config, type ConfigOptions, type Environment, loadConfig } from "./config.ts";
export { ConfigError, type ConfigProblem } from "./config-error.ts";
export { resolveBusOptions } from "./namespace.ts";
export { projectName } from "./project-name.ts";
export { project_path } from "./project-path.ts";
export { REDIS_TARGET, type RedisTarget, redisKeyPrefix, redisTargetOf } from "./redis-target.ts";
export { parseServerUrl, type ServerUrl } from "./server-url.ts";
export { rejectUnknownOptions } from "./unknown-options.ts";
