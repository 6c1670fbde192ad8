import { explainMissingImport, type ViteError } from "./missing-imports.ts";
import { explainPackageError } from "./package-errors.ts";
import { explainTsconfigError } from "./tsconfig-errors.ts";

/**
 * Returns an error of Vite in the words of tsweb, with its location as Vite's errors have it. Builds and the development
 * server show the same words.
 *
 * @returns `undefined` for an error that this function does not know
 */
export function explainViteError(error: ViteError, root: string): Error | undefined {
  return explainMissingImport(error, root) ?? explainTsconfigError(error, root) ?? explainPackageError(error, root);
}
