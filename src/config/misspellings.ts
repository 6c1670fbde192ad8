import { closestName } from "../text/index.ts";
import type { ConfigProblem } from "./config-error.ts";
import { type Environment, VARIABLES } from "./variables.ts";

const PREFIX = "WEB_";

/** How many letters of a misspelled name may differ. */
const MAX_DISTANCE = 2;

/**
 * Returns a problem for each variable that is probably a misspelled one of tsweb: it begins with `WEB_`, tsweb does not
 * know it, and it is similar to a variable of tsweb that is not set. Other names are the application's own. When unsure,
 * it returns none. The problems contain no values.
 */
export function misspelledVariables(env: Environment): ConfigProblem[] {
  const missing = KNOWN.filter((name) => name.startsWith(PREFIX) && !env[name]).map(withoutPrefix);
  return unknownVariables(env).flatMap((variable) => {
    const similar = similarName(withoutPrefix(variable), missing);
    if (similar === undefined) return [];
    return [{ variable, problem: "is no variable of tsweb.", fix: `Did you mean ${PREFIX}${similar}?` }];
  });
}

/** Names that developers expect, without the prefix, and the names that tsweb has for them. */
const EXPECTED_NAMES: Readonly<Record<string, string>> = {
  REDIS_URL: "BUS_URL",
  NATS_URL: "BUS_URL",
  SECRET: "AUTH_SECRET",
  SECRET_KEY: "AUTH_SECRET",
};

/**
 * Returns a problem for each variable that begins with `WEB_`, that nothing reads, and whose name is similar to one of tsweb,
 * whether that one is set or not, and for one of tsweb that begins with `TSWEB_`. Those of {@link misspelledVariables} are left out. The problems contain no values.
 *
 * @param isNamed returns whether the application names a variable
 */
export function unusedVariables(env: Environment, isNamed: (variable: string) => boolean): ConfigProblem[] {
  const reported = misspelledVariables(env).map(({ variable }) => variable);
  const candidates = [
    ...KNOWN.filter((name) => name.startsWith(PREFIX)).map(withoutPrefix),
    ...Object.keys(EXPECTED_NAMES),
  ];
  const problem = "is no variable of tsweb, and the application does not name it.";
  const withOtherPrefix = Object.keys(env)
    .filter((name) => name.startsWith(`TS${PREFIX}`) && KNOWN.includes(name.slice(2)) && !isNamed(name))
    .map((variable) => ({ variable, problem, fix: `Did you mean ${variable.slice(2)}? Otherwise remove it.` }));
  const similarOnes = unknownVariables(env).flatMap((variable) => {
    const similar = similarName(withoutPrefix(variable), candidates);
    if (similar === undefined || reported.includes(variable) || isNamed(variable)) return [];
    return [
      { variable, problem, fix: `Did you mean ${PREFIX}${EXPECTED_NAMES[similar] ?? similar}? Otherwise remove it.` },
    ];
  });
  return [...withOtherPrefix, ...similarOnes];
}

const KNOWN: readonly string[] = VARIABLES;

function unknownVariables(env: Environment): string[] {
  return Object.keys(env).filter((name) => name.startsWith(PREFIX) && !KNOWN.includes(name) && env[name] !== undefined);
}

function similarName(name: string, candidates: readonly string[]): string | undefined {
  return closestName(
    name,
    candidates.filter((candidate) => haveSimilarWords(name, candidate)),
    MAX_DISTANCE,
  );
}

/** The variables that were reported in this process, by environment: a development server loads an application often. */
const reported = new WeakMap<Environment, Set<string>>();

/** Returns the problems of {@link misspelledVariables} that it has not returned before for this environment. */
export function unreportedMisspellings(env: Environment): ConfigProblem[] {
  const before = reported.get(env) ?? new Set();
  reported.set(env, before);
  const problems = misspelledVariables(env).filter(({ variable }) => !before.has(variable));
  for (const { variable } of problems) before.add(variable);
  return problems;
}

function withoutPrefix(name: string): string {
  return name.slice(PREFIX.length);
}

/** Returns whether each word is similar, unless `_` is misspelled: `META_DIR` is two letters from `DATA_DIR`. */
function haveSimilarWords(name: string, candidate: string): boolean {
  const words = name.split("_");
  const expected = candidate.split("_");
  return (
    words.length !== expected.length ||
    words.every((word, index) => closestName(word, [expected[index] ?? ""]) !== undefined)
  );
}

/**
 * Throws for an option that does not exist. A misspelled `auth_requird` would otherwise leave a function open to
 * everybody, and a misspelled `strct` its arguments unchecked.
 *
 * @param validOptions all valid options. Type it as `Record<keyof Options, true>`, so that the compiler reports a missing one.
 * @param location where the options are, for the message: `new App`
 * @throws TypeError that names the unknown option and lists the valid ones, or if `options` is not an object
 */
export function rejectUnknownOptions(
  options: unknown,
  validOptions: Readonly<Record<string, true>>,
  location: string,
): asserts options is object {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `The options of ${location} must be an object, for example {}. Received: ${typeName(options)}.`,
    );
  }
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(validOptions, option));
  if (unknown === undefined) return;
  throw new TypeError(
    `Unknown option ${unknown} in ${location}. Valid options: ${Object.keys(validOptions).join(", ")}.`,
  );
}

function typeName(value: unknown): string {
  return value === null ? "null" : typeof value;
}
