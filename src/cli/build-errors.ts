import { BuildError, fileOf } from "./project.ts";

/** An error as the build tool gathers them: its own, or one that a plugin threw. */
interface Gathered extends Error {
  readonly id?: string;
  readonly loc?: { readonly line: number; readonly column: number };
  readonly frame?: string;
  readonly plugin?: string;
}

/**
 * Says what is wrong with an application that cannot be built: each mistake with its place and its
 * lines, and none of the build tool's own stack around it.
 *
 * What no file of the application is to blame for is given back as it came, with its stack: a
 * defect of a plugin, say.
 */
export function explainBuild(error: unknown, root: string): unknown {
  const gathered = error instanceof Error && "errors" in error && Array.isArray(error.errors) ? error.errors : [];
  if (gathered.length === 0 || !gathered.every(isMistake)) return error;
  return new BuildError(gathered.map((mistake) => sentence(mistake, root)).join("\n\n"), { cause: error });
}

/** The build tool's own errors are about what it builds; a plugin's are, when they name the place. */
function isMistake(error: unknown): error is Gathered {
  return error instanceof Error && (!("plugin" in error) || "loc" in error);
}

function sentence({ plugin, id, loc, frame, message }: Gathered, root: string): string {
  if (plugin === undefined) return message.trimEnd(); // it has the place and the lines in it
  const place = id && loc ? `${fileOf(root, id)}:${loc.line}:${loc.column + 1}\n` : "";
  return `${place}${message}${frame ? `\n\n${frame}` : ""}`;
}
