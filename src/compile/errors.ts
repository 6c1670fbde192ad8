/** Where in a source text something stands: offsets into the text, as the parser counts them. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A place a person can go to: lines from 1, columns from 0, as Vite and Rollup count. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The text a {@link CompileError} is about. */
export interface Source {
  /** The module's file, absolute, with forward slashes. */
  readonly file: string;
  readonly code: string;
}

/**
 * A program that the compile step refuses: what is wrong, where it stands and what to do instead.
 * Vite, Vitest and `tsweb/register` show the same sentence, since all of them throw this.
 */
export class CompileError extends Error {
  /** The file, named as Vite names a module. */
  readonly id: string;
  readonly loc: Place;
  /** A few lines of the source, with the place underlined. */
  readonly frame: string;

  constructor(message: string, source: Source, span: Span) {
    super(message);
    this.id = source.file;
    this.loc = placeOf(source, span.start);
    this.frame = codeFrame(source.code, this.loc, Math.max(1, span.end - span.start));
  }

  override get name(): string {
    return "CompileError";
  }
}

/** Finds the line and column of an offset. */
export function placeOf(source: Source, offset: number): Place {
  const before = source.code.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return { file: source.file, line, column: offset - lineStart };
}

/** Draws the lines around a place, the first of its characters underlined with `^`. */
function codeFrame(code: string, at: { line: number; column: number }, length = 1): string {
  const lines = code.split("\n").map((line) => line.replace(/\r$/, ""));
  const first = Math.max(1, at.line - 2);
  const last = Math.min(lines.length, at.line + 2);
  const width = String(last).length;
  const drawn: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = lines[number - 1] ?? "";
    drawn.push(`${String(number).padStart(width)}  |  ${text}`);
    if (number !== at.line) continue;
    // A tab before the place must stay one, or the marks would stand elsewhere.
    const indent = text.slice(0, at.column).replace(/[^\t]/g, " ");
    const room = Math.max(1, text.length - at.column);
    drawn.push(`${" ".repeat(width)}  |  ${indent}${"^".repeat(Math.min(length, room))}`);
  }
  return drawn.join("\n");
}
