import { ConfigError, type ConfigProblem, type Environment, loadConfig } from "../config/index.ts";

/**
 * Says whether the environment is one to serve the public from: what is wrong, and the mend for each.
 * Ends the program with 1 when anything is.
 */
export function printProductionCheck(env: Environment): void {
  const problems = productionProblems(env);
  if (problems.length === 0) {
    process.stdout.write(`This environment is fit for production:\n${FIT.map((line) => `  ${line}\n`).join("")}`);
    return;
  }
  for (const { variable, problem, mend } of problems) process.stderr.write(`${variable} ${problem}\n  ${mend}\n`);
  process.exitCode = 1;
}

const FIT = [
  "Every variable can be used, and the secret is there and is no pattern.",
  "It is production, cookies travel over HTTPS only, and the proxy in front is declared.",
];

/**
 * Finds what is wrong with an environment for production: all that would keep the server from starting,
 * and what it would start with all the same and should not.
 */
export function productionProblems(env: Environment): readonly ConfigProblem[] {
  const asked = [
    asProblem(env.WEB_ENV === "development", DEVELOPMENT),
    asProblem(isOff(env.WEB_COOKIE_SECURE), INSECURE),
    asProblem(isOff(env.WEB_TRUST_PROXY), NO_PROXY),
  ].filter((problem) => problem !== null);
  try {
    // As what is built reads it; development would let a weak secret pass.
    loadConfig({ ...env, WEB_ENV: "production" }, { built: true, projectDir: process.cwd() });
    return asked;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...asked, ...error.problems];
  }
}

/** A variable that cannot be read at all is told by the configuration itself. */
function isOff(text: string | undefined): boolean {
  return text === undefined || text === "" || text === "0";
}

function asProblem(isWrong: boolean, problem: ConfigProblem): ConfigProblem | null {
  return isWrong ? problem : null;
}

const DEVELOPMENT: ConfigProblem = {
  variable: "WEB_ENV",
  problem: "is development: a missing secret would be replaced by one that can be guessed.",
  mend: "Leave it out, or set it to production.",
};

const INSECURE: ConfigProblem = {
  variable: "WEB_COOKIE_SECURE",
  problem: "is off: browsers send the session over plain HTTP too, where anybody on the way can read it.",
  mend: "Serve over HTTPS, and set it to 1.",
};

const NO_PROXY: ConfigProblem = {
  variable: "WEB_TRUST_PROXY",
  problem:
    "is 0, and it takes a proxy in front to serve HTTPS: all its visitors would count as one client, and calls of the " +
    "application's own pages could be refused as another site's.",
  mend: "Set it to how many proxies stand in front that set X-Forwarded-For: 1, mostly.",
};
