import { sourceOfVariable } from "../project/index.ts";

/** The fields of a `ConfigError`. It may come from another copy of tsweb. */
interface EnvironmentError {
  readonly problems: readonly { readonly variable: string; readonly problem: string; readonly fix: string }[];
}

/**
 * Returns the message of a `ConfigError` with where each variable is set: in a file of variables or in the environment.
 * It contains no value besides those in the problems. Returns `undefined` for any other error.
 *
 * @param root the application's folder
 */
export function environmentErrorText(error: unknown, root: string): string | undefined {
  if (!isEnvironmentError(error)) return undefined;
  return error.problems
    .map(({ variable, problem, fix }) => {
      const source = sourceOfVariable(variable, root, process.env);
      const location = source === undefined ? "" : `\n  ${variable} is set in ${source}.`;
      return `${variable} ${problem}\n  ${fix}${location}`;
    })
    .join("\n");
}

function isEnvironmentError(error: unknown): error is EnvironmentError {
  return error instanceof Error && error.name === "ConfigError" && "problems" in error && Array.isArray(error.problems);
}
