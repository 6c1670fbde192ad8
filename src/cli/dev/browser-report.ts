import { join } from "node:path";
import { namesServerOnlyUrl } from "../../compile/index.ts";
import type { SourcePosition } from "../errors/index.ts";
import type { ServedSourceMaps } from "./source-maps.ts";

/** The longest message, and the longest stack, in characters. The rest is cut off. */
const MAX_MESSAGE = 4_000;
const MAX_STACK = 20_000;

/** The maximum number of causes. */
const MAX_CAUSES = 4;

/** An error that a page has reported, with a stack that refers to the sources. */
export interface BrowserError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: BrowserError | undefined;
}

/** What maps the positions in a stack. */
export interface Sources {
  readonly root: string;
  readonly maps: Pick<ServedSourceMaps, "find" | "includes">;
  /** The folder of the files that are served as they are; empty without one. */
  readonly publicDir: string;
}

/**
 * Reads the report of an error that a page has sent: anything that is not of the expected type is left out, because any
 * script in the page can send one.
 */
export function readBrowserError(report: unknown, sources: Sources, depth = 0): BrowserError {
  const { name, message, stack, source, cause }: Readonly<Record<string, unknown>> = Object(report);
  const markup = markupFrame(source, sources);
  const isNested = typeof cause === "object" && cause !== null && depth < MAX_CAUSES;
  return {
    name: text(name, 100) || "Error",
    message: withJsonAdvice(text(message, MAX_MESSAGE)),
    stack: [...(markup ? [markup] : []), ...mapStack(text(stack, MAX_STACK), sources)].join("\n"),
    ...(isNested ? { cause: readBrowserError(cause, sources, depth + 1) } : {}),
  };
}

/** Adds the usual cause of JSON that begins with a tag, in the words of Chromium and Safari: the error page of an address. */
function withJsonAdvice(message: string): string {
  const isHtml =
    /^Unexpected token '<', "<(?:!doctype|html)\b.* is not valid JSON|^JSON Parse error: Unrecognized token '<'/is;
  return isHtml.test(message) ? `${message}\nThe response is HTML, not JSON: does the address exist?` : message;
}

function text(value: unknown, maxLength: number): string {
  return typeof value === "string" ? value.slice(0, maxLength) : "";
}

/** The longest line of a stack that is read, in characters. A message is part of the stack, and may have longer ones. */
const MAX_LINE = 2_000;

/** The position at the end of a frame of Chromium (`at fn (http://…/a.tsx:3:7)`), Firefox and Safari (`fn@http://…/a.tsx:3:7`). */
const POSITION = /https?:\/\/[^/\s]+(\/[^\s()]*):(\d+):(\d+)\)?$/;

/** Reads a frame; `undefined` for any other line. */
function readFrame(text: string) {
  const line = text.length > MAX_LINE ? "" : text.trim();
  const match = POSITION.exec(line);
  if (!match) return undefined;
  const [, path = "", row, column] = match;
  const fn = line
    .slice(0, match.index)
    .replace(/^at /, "")
    .replace(/[\s@(]+$/, "");
  return { fn, path, line: Number(row), column: Number(column) };
}

/** Returns the frames of the application, as Node writes them. */
function mapStack(stack: string, { maps, root, publicDir }: Sources): string[] {
  return stack.split("\n").flatMap((text) => {
    const frame = readFrame(text);
    if (!frame) return [];
    const { fn, path, line, column } = frame;
    const position = maps.find(path, line, column) ?? publicPosition(path, line, column, publicDir);
    if (!position?.file.startsWith(`${root}/`)) return [];
    const place = `${position.file}:${position.line}:${position.column}`;
    const name = fn.trim().replace(/^.* \[as constructor\]$/, ""); // Preact's name of a component's function
    return [name === "" ? `    at ${place}` : `    at ${name} (${place})`];
  });
}

/** A script in the public folder is served as it is, at its path. */
function publicPosition(path: string, line: number, column: number, publicDir: string): SourcePosition | undefined {
  const file = join(publicDir, path);
  const isScript = /\.m?js$/.test(path) && !path.startsWith("/__web/");
  if (publicDir === "" || !isScript || !file.startsWith(`${publicDir}/`)) return undefined;
  return namesServerOnlyUrl(path, publicDir) ? undefined : { file, line, column }; // it is not served either
}

/**
 * Returns a frame for the source of markup, which JSX's development runtime has passed. The file must be one that a
 * browser has loaded, because its lines are sent back.
 */
function markupFrame(source: unknown, { root, maps }: Sources): string | undefined {
  const { fileName, lineNumber, columnNumber }: Readonly<Record<string, unknown>> = Object(source);
  if (typeof fileName !== "string" || !Number.isInteger(lineNumber) || !Number.isInteger(columnNumber))
    return undefined;
  const file = fileName.startsWith("/") ? fileName : join(root, fileName);
  return maps.includes(file) ? `    at ${file}:${String(lineNumber)}:${String(columnNumber)}` : undefined;
}
