/** A range of a source text, in the offsets of the parser: UTF-16 units, `end` exclusive. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** A location in a source file. Lines count from 1 and columns from 0, as in Vite and Rollup. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The text of one module. */
export interface SourceFile {
  /** The module's file, absolute, with forward slashes. */
  readonly file: string;
  readonly code: string;
}

/**
 * Thrown when the compile step rejects a module. The message contains the problem and its fix, `loc` and
 * `frame` the location. Vite, Vitest and `tsweb/register` all show this error.
 */
export class CompileError extends Error {
  /** The absolute path of the file: Vite's module id. */
  readonly id: string;
  readonly loc: SourceLocation;
  /** The lines of the source around the error, with the range underlined. */
  readonly frame: string;

  constructor(message: string, source: SourceFile, span: SourceRange) {
    super(message);
    this.id = source.file;
    this.loc = sourceLocation(source, span.start);
    this.frame = codeFrame(source.code, this.loc, Math.max(1, span.end - span.start));
  }

  override get name(): string {
    return "CompileError";
  }
}

/** Returns the line and column of an offset. */
export function sourceLocation(source: SourceFile, offset: number): SourceLocation {
  const before = source.code.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return { file: source.file, line, column: offset - lineStart };
}

/** Returns the lines around a location, with `length` characters of its line underlined with `^`. */
function codeFrame(code: string, at: { line: number; column: number }, length = 1): string {
  const lines = code.split("\n").map((line) => line.replace(/\r$/, ""));
  const first = Math.max(1, at.line - 2);
  const last = Math.min(lines.length, at.line + 2);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = lines[number - 1] ?? "";
    frame.push(`${String(number).padStart(width)}  |  ${text}`);
    if (number !== at.line) continue;
    // Keep tabs, so that the underline stays aligned.
    const indent = text.slice(0, at.column).replace(/[^\t]/g, " ");
    const room = Math.max(1, text.length - at.column);
    frame.push(`${" ".repeat(width)}  |  ${indent}${"^".repeat(Math.min(length, room))}`);
  }
  return frame.join("\n");
}
