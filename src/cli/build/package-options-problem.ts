import { BuildError } from "../project/index.ts";
import { readIncludePatterns } from "./include.ts";
import { readBudget, readPackageOptions } from "./package-options.ts";

/**
 * Returns the error, with its location, that a build would report about `"tsweb"` in package.json; `undefined` if it is valid.
 * Whether the patterns match files is not checked: a script may create the files before the build.
 */
export function packageOptionsProblem(root: string): string | undefined {
  try {
    const options = readPackageOptions(root);
    readBudget(options);
    readIncludePatterns(options);
    return undefined;
  } catch (error) {
    if (error instanceof BuildError) return error.message;
    throw error;
  }
}
