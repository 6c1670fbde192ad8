import { resolve } from "node:path";
import { LOG_LEVELS, type LogLevel } from "../logging/index.ts";
import { defaultNamespace } from "./bus-url.ts";
import { ConfigError, type ConfigProblem, InvalidVariableError } from "./config-error.ts";
import { misspelledVariables } from "./misspellings.ts";
import { defaultRealm, defaultSessionCookie, parseRealm, parseSessionCookie, withHostPrefix } from "./realm.ts";
import { CREATE_SECRET, developmentSecret, parsePreviousSecrets, parseSecret } from "./secrets.ts";
import {
  type Environment,
  parseBoolean,
  parseBusUrl,
  parseChoice,
  parseHost,
  parseInteger,
  parseMetricsPath,
  parseMetricsToken,
  parseMode,
  parseOrigins,
  type Variable,
} from "./variables.ts";

export {
  parseServerUrl,
  REDIS_TARGET,
  type RedisTarget,
  redisKeyPrefix,
  redisTargetOf,
  resolveBusOptions,
  type ServerUrl,
} from "./bus-url.ts";
export { ConfigError, type ConfigProblem } from "./config-error.ts";
export { misspelledVariables, rejectUnknownOptions, unreportedMisspellings, unusedVariables } from "./misspellings.ts";
export { project_path, projectName } from "./project.ts";
export {
  isCookieName,
  processRealm,
  SESSION_COOKIE,
  SIGNED_OUT_COOKIE,
  sessionCookieProblem,
  withoutHostPrefix,
} from "./realm.ts";
export type { Environment } from "./variables.ts";

/** The configuration, read from the environment once at start. Frozen. */
export interface Config {
  /** Whether guessable secrets are refused and development tools are off. */
  readonly production: boolean;
  /** The secret that all keys but that of CSRF tokens are derived from: 32 bytes. */
  readonly secret: Uint8Array;
  /** Earlier secrets, newest first. Their keys verify, but never sign. */
  readonly previousSecrets: readonly Uint8Array[];
  /** A part of every key: applications with one secret and different realms do not accept what the others have signed. */
  readonly realm: string;
  /** Whether cookies have `Secure`, and the session cookie the prefix `__Host-`. */
  readonly cookieSecure: boolean;
  /** The name of the session cookie: with the prefix `__Host-` if {@link cookieSecure}. */
  readonly sessionCookie: string;
  /** The secret that the key of CSRF tokens is derived from; absent if no tokens are required. */
  readonly csrfSecret?: Uint8Array;
  /** The origins of the site. If empty, the origin of the connection counts. */
  readonly origins: readonly string[];
  /** The number of trusted proxies. */
  readonly trustProxy: number;
  /** The URL of the shared bus, without the namespace. It may contain a password: never log it. */
  readonly busUrl?: string;
  /** The namespace of the application on the server of the bus: 1 to 64 letters, digits, `-` and `_`. */
  readonly busNamespace: string;
  /** The maximum number of live connections and streams of one client in this process. */
  readonly maxStreamsPerClient: number;
  /** The folder for uploaded files; absent for the system's folder for temporary files. */
  readonly uploadDir?: string;
  /** The folder in which the application stores data that survives restarts; absent without one. */
  readonly dataDir?: string;
  /** The maximum of bytes of uploaded files that this process stores at once. */
  readonly maxUploadBytes: number;
  /** The maximum of bytes of uploaded files of one client. */
  readonly maxUploadBytesPerClient: number;
  /** Whether pages and files are sent compressed. `tsweb dev` never does. */
  readonly compress: boolean;
  /** The lowest level of the log lines that are written. */
  readonly logLevel: LogLevel;
  /** Whether each request is logged. */
  readonly accessLog: boolean;
  /** The path of the metrics; absent without metrics. */
  readonly metricsPath?: string;
  /** The token that a request for the metrics must have; absent if none is required. Never log it. */
  readonly metricsToken?: string;
  /** The port of the metrics, if they have one of their own. */
  readonly metricsPort?: number;
  readonly host: string;
  /** Whether `HOST` is not set. */
  readonly isDefaultHost: boolean;
  /** The port. `0` lets the system choose. */
  readonly port: number;
  /** The number of processes that serve. */
  readonly workers: number;
  /** For how many seconds a stopping process still accepts connections, while `/readyz` responds with 503. */
  readonly drainSeconds: number;
  /** How many seconds requests in flight have to end after the port was closed. */
  readonly stopSeconds: number;
}

/** The input of the configuration besides the environment. */
export interface ConfigOptions {
  /** Whether this is a built application. It runs in production mode unless `WEB_ENV=development`. */
  readonly built: boolean;
  /** Whether the application has installed a bus that processes share, so that several need no `WEB_BUS_URL`. */
  readonly hasSharedBus?: boolean;
  /** The project directory. The development secret, the namespace and the realm are derived from it. */
  readonly projectDir: string;
  /** The name of the session cookie that the application has set, checked, without a prefix. `WEB_SESSION_COOKIE` takes precedence. */
  readonly sessionCookie?: string | undefined;
}

/**
 * Returns the configuration. An empty variable counts as not set.
 *
 * The mode is production with `WEB_ENV=production`, and in a built application unless `WEB_ENV=development`. It errs
 * towards production, also for an invalid `WEB_ENV`: a forgotten variable must not leave a guessable secret in use.
 *
 * @throws ConfigError that lists every invalid variable, with the reason and the fix, and then every misspelled one
 */
export function loadConfig(env: Environment, options: ConfigOptions): Config {
  const reader = new EnvironmentReader(env);
  const production = reader.read<boolean>("WEB_ENV", parseMode, options.built || Boolean(env.WEB_ENV));
  const config = readConfig(reader, production, options);
  const problems = [...reader.problems];
  if (production && !env.WEB_AUTH_SECRET) problems.push(missingSecret(options.built && !env.WEB_ENV));
  if (config.workers > 1 && !env.WEB_BUS_URL && !options.hasSharedBus) problems.push(workersWithoutBus(config.workers));
  // An invalid token or port is a problem of its own.
  const isProtected = Boolean(env.WEB_METRICS_TOKEN || env.WEB_METRICS_PORT);
  if (config.metricsPath !== undefined && !isProtected) problems.push(unprotectedMetrics());
  if (problems.length > 0) throw new ConfigError([...problems, ...misspelledVariables(env)]);
  return Object.freeze(config);
}

/** Reads variables, and collects the problems instead of throwing at the first. */
class EnvironmentReader {
  readonly problems: ConfigProblem[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Returns the parsed value, or `fallback` if the variable is not set or invalid. */
  read<T>(variable: Variable, parse: (text: string) => T, fallback: T): T {
    const text = this.#env[variable];
    if (text === undefined || text === "") return fallback;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof InvalidVariableError)) throw error;
      this.problems.push({ variable, problem: error.problem, fix: error.fix });
      return fallback;
    }
  }

  readInteger(variable: Variable, min: number, max: number, fallback: number): number {
    return this.read(variable, (text) => parseInteger(text, min, max), fallback);
  }
}

const GIB = 1024 ** 3;
/** The default maximum of a body. */
const MIN_UPLOAD_BYTES = 1024 ** 2;
const MAX_UPLOAD_BYTES = 1024 ** 5;

function readConfig(
  reader: EnvironmentReader,
  production: boolean,
  { projectDir, sessionCookie }: ConfigOptions,
): Config {
  const toSecret = (text: string) => parseSecret(text, production);
  const secret = reader.read("WEB_AUTH_SECRET", toSecret, undefined);
  const csrfSecret = reader.read("WEB_CSRF_SECRET", toSecret, undefined);
  const bus = reader.read("WEB_BUS_URL", parseBusUrl, undefined);
  const uploadDir = reader.read("WEB_UPLOAD_DIR", (text) => resolve(text), undefined);
  const dataDir = reader.read("WEB_DATA_DIR", (text) => resolve(text), undefined);
  const maxUploadBytes = reader.readInteger("WEB_MAX_UPLOAD_BYTES", MIN_UPLOAD_BYTES, MAX_UPLOAD_BYTES, 4 * GIB);
  const metricsToken = reader.read("WEB_METRICS_TOKEN", parseMetricsToken, undefined);
  const metricsPort = reader.read("WEB_METRICS_PORT", (text) => parseInteger(text, 0, 65_535), undefined);
  const defaultPath = metricsPort === undefined && metricsToken === undefined ? undefined : "/metrics";
  const metricsPath = reader.read("WEB_METRICS_PATH", parseMetricsPath, defaultPath);
  const host = reader.read("HOST", parseHost, undefined);
  const realm = reader.read("WEB_REALM", parseRealm, undefined) ?? defaultRealm(projectDir);
  const cookieSecure = reader.read("WEB_COOKIE_SECURE", parseBoolean, false);
  const defaultCookie = sessionCookie ?? defaultSessionCookie(realm, production);
  const cookie = reader.read("WEB_SESSION_COOKIE", parseSessionCookie, defaultCookie);
  return {
    production,
    // Without a secret in production, loadConfig throws: the empty one is never used.
    secret: secret ?? (production ? new Uint8Array(0) : developmentSecret(projectDir)),
    previousSecrets: reader.read("WEB_AUTH_SECRET_PREVIOUS", (text) => parsePreviousSecrets(text, production), []),
    realm,
    cookieSecure,
    sessionCookie: cookieSecure ? withHostPrefix(cookie) : cookie,
    ...(csrfSecret ? { csrfSecret } : {}),
    origins: reader.read("WEB_ORIGIN", parseOrigins, []),
    trustProxy: reader.readInteger("WEB_TRUST_PROXY", 0, 16, 0),
    ...(bus === undefined ? {} : { busUrl: bus.url }),
    busNamespace: bus?.namespace ?? defaultNamespace(projectDir),
    maxStreamsPerClient: reader.readInteger("WEB_MAX_STREAMS_PER_CLIENT", 1, 1_000_000, 100),
    ...(uploadDir === undefined ? {} : { uploadDir }),
    ...(dataDir === undefined ? {} : { dataDir }),
    maxUploadBytes,
    maxUploadBytesPerClient: reader.readInteger(
      "WEB_MAX_UPLOAD_BYTES_PER_CLIENT",
      MIN_UPLOAD_BYTES,
      maxUploadBytes,
      Math.floor(maxUploadBytes / 2),
    ),
    compress: reader.read("WEB_COMPRESS", parseBoolean, true),
    logLevel: reader.read("WEB_LOG_LEVEL", (text) => parseChoice(text, LOG_LEVELS), "info"),
    accessLog: reader.read("WEB_ACCESS_LOG", parseBoolean, false),
    ...(metricsPath === undefined ? {} : { metricsPath }),
    ...(metricsToken === undefined ? {} : { metricsToken }),
    ...(metricsPort === undefined ? {} : { metricsPort }),
    host: host ?? (production ? "0.0.0.0" : "127.0.0.1"),
    isDefaultHost: host === undefined,
    port: reader.readInteger("PORT", 0, 65_535, 3000),
    workers: reader.readInteger("WEB_WORKERS", 1, 256, 1),
    drainSeconds: reader.readInteger("WEB_DRAIN_SECONDS", 0, 3_600, production ? 2 : 0),
    stopSeconds: reader.readInteger("WEB_STOP_SECONDS", 0, 3_600, 30),
  };
}

/** @param byBuild whether the mode is production only because the application is built */
function missingSecret(byBuild: boolean): ConfigProblem {
  const reason = byBuild ? " (a built application runs in production mode unless WEB_ENV=development)" : "";
  return {
    variable: "WEB_AUTH_SECRET",
    problem: `is not set, but production requires it${reason}.`,
    fix: CREATE_SECRET,
  };
}

function unprotectedMetrics(): ConfigProblem {
  return {
    variable: "WEB_METRICS_PATH",
    problem: "is set, but neither WEB_METRICS_TOKEN nor WEB_METRICS_PORT is: everybody could read the metrics.",
    fix: `Set WEB_METRICS_PORT to a port that only your network reaches, or WEB_METRICS_TOKEN. ${CREATE_SECRET}`,
  };
}

function workersWithoutBus(workers: number): ConfigProblem {
  return {
    variable: "WEB_WORKERS",
    problem: `is ${workers}, but the processes have no shared bus: messages of one would not reach the others.`,
    fix:
      "Set WEB_BUS_URL (redis://… or nats://…), or call realtime.use_bus at the top of src/app.ts, before new App, or " +
      "set WEB_WORKERS to 1.",
  };
}
