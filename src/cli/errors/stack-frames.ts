import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { normalizePath } from "vite";

/** A position in a file. Line and column count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What a stack contains of the application. */
export interface ApplicationFrames {
  /** The lines of the stack that are neither of tsweb nor of Vite or Node. */
  readonly frames: readonly string[];
  /** The first position in one of the application's own files. */
  readonly position: SourcePosition | undefined;
}

/** A frame of V8, after its file was mapped: `at fn (/app/src/a.ts:3:7)`, or without a function. */
const FRAME = /^\s*at (?:.*?[\s(])?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^():]+):(\d+):(\d+)\)?$/;

/** The folder of this package, which contains its code, and that of Vite. */
const OWN_FOLDERS = [fileURLToPath(new URL("../..", import.meta.url))].flatMap((folder) => [
  normalizePath(folder),
  normalizePath(`${realpathSync(folder)}/`),
]);

/**
 * Returns the frames of a stack that the developer can change. Frames of packages are left out, unless there are no
 * others: then they are the only hint.
 *
 * @param root the application's folder
 */
export function applicationFrames(stack: string, root: string): ApplicationFrames {
  const frames = stack
    .split("\n")
    .filter((line) => /^\s*at /.test(line))
    .map((line) => ({ line, position: positionIn(line) }));
  const foreign = frames.filter(({ position }) => position && !isFramework(position.file));
  const own = foreign.filter(({ position }) => position && !position.file.includes("/node_modules/"));
  const position = own.find((frame) => frame.position?.file.startsWith(`${root}/`))?.position;
  return { frames: (own.length > 0 ? own : foreign).map(({ line }) => line), position };
}

/** Returns the position in a line of a stack; `undefined` if it has none. */
export function positionIn(line: string): SourcePosition | undefined {
  const [, file, number, column] = FRAME.exec(line) ?? [];
  return file === undefined ? undefined : { file: normalizePath(file), line: Number(number), column: Number(column) };
}

function isFramework(file: string): boolean {
  return (
    OWN_FOLDERS.some((folder) => file.startsWith(folder)) ||
    /\/node_modules\/(?:tsweb|vite|rolldown|preact|preact-render-to-string|@prefresh\/\w+)\//.test(file)
  );
}
