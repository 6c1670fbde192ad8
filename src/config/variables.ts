/** The environment variables of tsweb, all of them: `loadConfig` can read no other. Each is in docs/configuration.md. */
export const VARIABLES = [
  "HOST",
  "PORT",
  "WEB_ACCESS_LOG",
  "WEB_AUTH_SECRET",
  "WEB_AUTH_SECRET_PREVIOUS",
  "WEB_BUS_URL",
  "WEB_COMPRESS",
  "WEB_COOKIE_SECURE",
  "WEB_CSRF_SECRET",
  "WEB_DATA_DIR",
  "WEB_DRAIN_SECONDS",
  "WEB_ENV",
  "WEB_LOG_LEVEL",
  "WEB_MAX_STREAMS_PER_CLIENT",
  "WEB_MAX_UPLOAD_BYTES",
  "WEB_MAX_UPLOAD_BYTES_PER_CLIENT",
  "WEB_METRICS_PATH",
  "WEB_METRICS_PORT",
  "WEB_METRICS_TOKEN",
  "WEB_ORIGIN",
  "WEB_REALM",
  "WEB_STOP_SECONDS",
  "WEB_TRUST_PROXY",
  "WEB_UPLOAD_DIR",
  "WEB_WORKERS",
] as const;

/** The name of an environment variable of tsweb. */
export type Variable = (typeof VARIABLES)[number];

/** Environment variables, in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;
