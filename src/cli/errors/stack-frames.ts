import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { posix } from "node:path";
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
function positionIn(line: string): SourcePosition | undefined {
  const [, file, number, column] = FRAME.exec(line) ?? [];
  return file === undefined ? undefined : { file: normalizePath(file), line: Number(number), column: Number(column) };
}

function isFramework(file: string): boolean {
  return (
    OWN_FOLDERS.some((folder) => file.startsWith(folder)) ||
    /\/node_modules\/(?:tsweb|vite|rolldown|preact|preact-render-to-string|@prefresh\/\w+)\//.test(file)
  );
}

/** A frame of the top level of a module, as the module runner of Vite evaluates it. */
const MODULE_FRAME = /^\s*at (?:async )?eval \(/;

/** How many modules are read at most in search of a cycle. */
const MAX_MODULES = 200;

/**
 * Returns which modules import each other, if an error was thrown while a module was evaluated and the value that is missing may
 * be that of a module that has not been evaluated yet. Otherwise an empty string.
 *
 * @param frames the frames of the error that are in the application, the innermost first
 * @param root the project's root, absolute
 */
export function importCycleAdvice(
  { name, message }: { readonly name?: string; readonly message: string },
  frames: readonly string[],
  root: string,
): string {
  const isAboutMissingValue =
    name === "TypeError" && /\bundefined\b| is not a (?:function|constructor)\b/.test(message);
  if (!isAboutMissingValue || !frames.every((frame) => MODULE_FRAME.test(frame))) return "";
  const [thrower, ...importers] = frames.flatMap((frame) => positionIn(frame)?.file ?? []);
  const path = thrower === undefined ? undefined : pathTo(thrower, new Set(importers));
  if (!path) return "";
  const cycle = path.map((file) => posix.relative(root, file)).join(" → ");
  return (
    `These modules import each other: ${cycle} → ${posix.relative(root, path[0] ?? "")}. So the first of them is evaluated before ` +
    "what it imports. Move what both use into a module of its own, or use the import inside of a function."
  );
}

/** Returns the modules from a file to one of its importers, by their imports; `undefined` if it imports none of them. */
function pathTo(file: string, importers: ReadonlySet<string>): readonly string[] | undefined {
  const paths: (readonly string[])[] = [[file]];
  const seen = new Set([file]);
  for (const path of paths) {
    for (const imported of importsOf(path.at(-1) ?? "")) {
      if (importers.has(imported)) return [...path, imported];
      if (seen.has(imported) || seen.size >= MAX_MODULES) continue;
      seen.add(imported);
      paths.push([...path, imported]);
    }
  }
  return undefined;
}

/** Returns the files that a module imports by a relative path. */
function importsOf(file: string): string[] {
  const code = existsSync(file) ? readFileSync(file, "utf8") : "";
  return [...code.matchAll(/^\s*(?:import|export)\b(?!\s+type\b)[^;"']*["'](\.{1,2}\/[^"']+)["']/gm)].flatMap(
    ([, specifier = ""]) => {
      const path = posix.join(posix.dirname(file), specifier);
      const candidates = [path, `${path}.ts`, `${path}.tsx`, path.replace(/\.js(x?)$/, ".ts$1"), `${path}/index.ts`];
      return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile()) ?? [];
    },
  );
}
