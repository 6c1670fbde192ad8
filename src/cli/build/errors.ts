import { stripVTControlCharacters } from "node:util";
import { ProjectError } from "../../compile/index.ts";
import { explainViteError } from "../errors/index.ts";
import { BuildError, relativeFile } from "../project/index.ts";

/** An error in Vite's list of build errors: its own, or one that a plugin threw. */
interface BundlerError extends Error {
  readonly id?: string;
  readonly loc?: { readonly line: number; readonly column: number };
  readonly frame?: string;
  readonly plugin?: string;
  /** Set by Rolldown. */
  readonly kind?: string;
}

/**
 * Converts the error of a failed build to a `BuildError` that names each mistake with its location and source lines,
 * without Vite's stack.
 *
 * Returns the error unchanged when no file of the application is the cause, such as a defect in a plugin.
 */
export function explainBuildError(error: unknown, root: string): unknown {
  const errors = error instanceof Error && "errors" in error && Array.isArray(error.errors) ? error.errors : [];
  if (errors.length === 0 || !errors.every(isMistake)) return error;
  const mistakes = errors.map((mistake) => format(explainMistake(mistake, root), root));
  return new BuildError(mistakes.join("\n\n"), { cause: error });
}

/**
 * Vite's own errors concern the application's files. An error of a plugin does so if it has a location or is a
 * `ProjectError`.
 */
function isMistake(error: unknown): error is BundlerError {
  return error instanceof Error && (!("plugin" in error) || "loc" in error || error instanceof ProjectError);
}

/** Returns the error of the compile step for what Vite found in other words. */
function explainMistake(error: BundlerError, root: string): BundlerError {
  return explainViteError(error, root) ?? error;
}

function format({ kind, id, loc, frame, message }: BundlerError, root: string): string {
  const text = stripVTControlCharacters(message).trimEnd();
  if (kind !== undefined) return text.replace(/^\[[A-Z_]+\] /, ""); // Rolldown's messages contain location and lines
  const location = id && loc ? `${relativeFile(root, id)}:${loc.line}:${loc.column + 1}\n` : "";
  return `${location}${text}${frame ? `\n\n${frame}` : ""}`;
}
