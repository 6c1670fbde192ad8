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
  const known: readonly string[] = VARIABLES;
  const missing = known.filter((name) => name.startsWith(PREFIX) && !env[name]).map(withoutPrefix);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && env[name] !== undefined)
    .flatMap((variable) => {
      const name = withoutPrefix(variable);
      const similar = closestName(
        name,
        missing.filter((candidate) => haveSimilarWords(name, candidate)),
        MAX_DISTANCE,
      );
      if (similar === undefined) return [];
      return [{ variable, problem: "is no variable of tsweb.", fix: `Did you mean ${PREFIX}${similar}?` }];
    });
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
