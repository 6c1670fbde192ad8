import { ProjectError } from "../compile/index.ts";
import { BuildError, relativeFile } from "./project.ts";

/** An error in Vite's list of build errors: its own, or one that a plugin threw. */
interface BundlerError extends Error {
  readonly id?: string;
  readonly loc?: { readonly line: number; readonly column: number };
  readonly frame?: string;
  readonly plugin?: string;
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
  return new BuildError(errors.map((mistake) => format(mistake, root)).join("\n\n"), { cause: error });
}

/**
 * Vite's own errors concern the application's files. An error of a plugin does so if it has a location or is a
 * `ProjectError`.
 */
function isMistake(error: unknown): error is BundlerError {
  return error instanceof Error && (!("plugin" in error) || "loc" in error || error instanceof ProjectError);
}

function format({ plugin, id, loc, frame, message }: BundlerError, root: string): string {
  if (plugin === undefined) return message.trimEnd(); // it contains location and lines
  const location = id && loc ? `${relativeFile(root, id)}:${loc.line}:${loc.column + 1}\n` : "";
  return `${location}${message}${frame ? `\n\n${frame}` : ""}`;
}
