import { ConfigError, type ConfigProblem, type Environment, loadConfig } from "../config/index.ts";

/** Prints whether an environment is ready for production. Otherwise the process exits with status 1. */
export function printProductionCheck(env: Environment): void {
  const problems = productionProblems(env);
  if (problems.length === 0) {
    process.stdout.write(`This environment is ready for production:\n${READY.map((line) => `  ${line}\n`).join("")}`);
    return;
  }
  for (const { variable, problem, fix } of problems) process.stderr.write(`${variable} ${problem}\n  ${fix}\n`);
  process.exitCode = 1;
}

const READY = [
  "Every variable is valid, and the secret is set and random.",
  "The mode is production, cookies are sent over HTTPS only, and the number of proxies is set.",
];

/**
 * Returns the problems of an environment for production: everything that would prevent the server from starting, and
 * the settings that the server accepts although they are unsafe in public.
 */
export function productionProblems(env: Environment): readonly ConfigProblem[] {
  const unsafe = [
    ...(env.WEB_ENV === "development" ? [DEVELOPMENT] : []),
    ...(isOff(env.WEB_COOKIE_SECURE) ? [INSECURE_COOKIE] : []),
    ...(isOff(env.WEB_TRUST_PROXY) ? [NO_PROXY] : []),
  ];
  try {
    // As a built application reads it; development would accept a weak secret.
    loadConfig({ ...env, WEB_ENV: "production" }, { built: true, projectDir: process.cwd() });
    return unsafe;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...unsafe, ...error.problems];
  }
}

/** Invalid values are not off: `loadConfig` reports them. */
function isOff(text: string | undefined): boolean {
  return text === undefined || text === "" || text === "0";
}

const DEVELOPMENT: ConfigProblem = {
  variable: "WEB_ENV",
  problem: "is development: a missing secret would be replaced by one that can be guessed.",
  fix: "Leave it out, or set it to production.",
};

const INSECURE_COOKIE: ConfigProblem = {
  variable: "WEB_COOKIE_SECURE",
  problem: "is off: browsers send the session cookie over plain HTTP too, where anyone on the network can read it.",
  fix: "Serve over HTTPS, and set it to 1.",
};

const NO_PROXY: ConfigProblem = {
  variable: "WEB_TRUST_PROXY",
  problem:
    "is 0, but HTTPS needs a proxy in front. All of its users would count as one client, and calls from the " +
    "application's own pages could be rejected as cross-origin.",
  fix: "Set it to the number of proxies in front that set X-Forwarded-For, usually 1.",
};
