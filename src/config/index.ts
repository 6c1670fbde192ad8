export {
  parseServerUrl,
  REDIS_TARGET,
  type RedisTarget,
  redisKeyPrefix,
  redisTargetOf,
  resolveBusOptions,
  type ServerUrl,
} from "./bus-url.ts";
export { type Config, type ConfigOptions, loadConfig } from "./config.ts";
export { ConfigError, type ConfigProblem } from "./config-error.ts";
export { misspelledVariables, rejectUnknownOptions, unreportedMisspellings, unusedVariables } from "./misspellings.ts";
export { project_path, projectName } from "./project.ts";
export { processRealm } from "./realm.ts";
export {
  isCookieName,
  SESSION_COOKIE,
  SIGNED_OUT_COOKIE,
  sessionCookieProblem,
  withoutHostPrefix,
} from "./session-cookie.ts";
export type { Environment } from "./variables.ts";
