/**
 * Stacks with the locations of the application's own files. `tsweb build` copies this file beside the built application, so
 * it imports nothing but Node's own modules.
 *
 * Node's `process.setSourceMapsEnabled` reads and parses the source map of a file when it loads the file, which takes a
 * quarter of the time that a small application needs to start, and 19 MB. Here a source map is read when the stack of an
 * error is first read.
 */
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A function that Node calls for the text of a stack, when the stack is first read. */
type PrepareStackTrace = (error: Error, frames: readonly NodeJS.CallSite[]) => string;

/** A source map, and the folder that its paths are relative to. */
interface FileMap {
  readonly map: SourceMap;
  readonly folder: string;
}

/**
 * Makes the stacks of all errors name the original locations of the files in a folder. Has no effect on runtimes with source
 * maps of their own, and with `--enable-source-maps`.
 *
 * A location without a source map stays as it is.
 *
 * @param folder the URL of the folder, with a slash at its end
 */
export function mapStacks(folder: string): void {
  const { versions, sourceMapsEnabled } = process;
  if ("bun" in versions || "deno" in versions) process.setSourceMapsEnabled(true);
  else if (!sourceMapsEnabled) Error.prepareStackTrace = createPrepareStackTrace(folder);
}

/** Returns a function that prepares stacks as Node does, with the original locations of the files in a folder. */
export function createPrepareStackTrace(folder: string): PrepareStackTrace {
  const maps = new Map<string, FileMap | null>();
  const mapOf = (url: string) => {
    let map = maps.get(url);
    if (map === undefined) {
      map = readMap(url);
      maps.set(url, map);
    }
    return map;
  };
  const format = (frame: NodeJS.CallSite) => {
    const text = String(frame);
    const url = frame.getScriptNameOrSourceURL?.() ?? "";
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
    if (!url.startsWith(folder) || line === null || column === null) return text;
    const origin = originOf(mapOf(url), line, column);
    return origin ? text.replace(`${url}:${line}:${column}`, () => origin) : text;
  };
  return (error, frames) => [headerOf(error), ...frames.map((frame) => `    at ${format(frame)}`)].join("\n");
}

function readMap(url: string): FileMap | null {
  try {
    const file = fileURLToPath(url);
    return { map: new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8"))), folder: dirname(file) };
  } catch {
    return null; // a file without a source map, or with one that cannot be read: a stack must not throw
  }
}

/** Returns the original location of a position; `undefined` if it has none. */
function originOf(source: FileMap | null, line: number, column: number): string | undefined {
  const entry = source?.map.findEntry(line - 1, column - 1);
  if (!source || !entry || !("originalSource" in entry)) return undefined;
  const { originalSource, originalLine, originalColumn } = entry;
  const path = originalSource.startsWith("file:")
    ? fileURLToPath(originalSource)
    : resolve(source.folder, originalSource);
  return `${path}:${originalLine + 1}:${originalColumn + 1}`;
}

/** Returns the first line of a stack, as Node writes it: its own errors have their code in it. */
function headerOf(error: Error): string {
  try {
    return isErrorOfNode(error) ? error.toString() : Error.prototype.toString.call(error);
  } catch {
    return "<error>"; // a getter of the error throws
  }
}

/** Returns whether Node has thrown an error itself: a class that it inherits from has a mark. */
function isErrorOfNode(error: Error): boolean {
  for (let object: unknown = error; object instanceof Object; object = Object.getPrototypeOf(object)) {
    if (Object.getOwnPropertySymbols(object).some(({ description }) => description === "kIsNodeError")) return true;
  }
  return false;
}
