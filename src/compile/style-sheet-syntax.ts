import { CompileError, type SourceFile, type SourceRange } from "./syntax/index.ts";

/**
 * The tokens of CSS that contain or are brackets: comments, strings, `url(…)` without quotes, escapes, brackets. A comment
 * without an end extends to the end of the file, a string to the end of its line.
 *
 * @see https://www.w3.org/TR/css-syntax-3/#tokenization
 */
const TOKENS =
  /\/\*(?:[\s\S]*?\*\/|[\s\S]*)|"(?:\\(?:\r\n|[\s\S])|[^"\\\r\n\f])*"?|'(?:\\(?:\r\n|[\s\S])|[^'\\\r\n\f])*'?|(?<![\w\u0080-\uffff-])url\(\s*(?!["'\s])(?:\\[\s\S]|[^)\\])*\)?|\\[\s\S]|[{}()[\]]/gi;

const CLOSING: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** A line that starts with a comment of Sass: the project may have a PostCSS parser that accepts it. */
const LINE_COMMENT = /^[^\S\n]*\/\//m;

/**
 * Checks that blocks, comments and strings of a style sheet in CSS are closed. Browsers, and Vite in development, accept
 * these mistakes silently, and ignore the rules after them.
 *
 * Errs towards silence: other mistakes, and style sheets with comments that start with two slashes, are accepted.
 *
 * @throws CompileError at the outermost block that is not closed, or at the `}`, the comment or the string
 */
export function checkStyleSheetSyntax(source: SourceFile): void {
  const { file, code } = source;
  if (!/\.css$/i.test(file) || LINE_COMMENT.test(code)) return;
  const open: { readonly bracket: string; readonly start: number }[] = [];
  for (const { 0: token, index: start } of code.matchAll(TOKENS)) {
    const unclosed = unclosedMessage(token);
    if (unclosed !== undefined) throw new CompileError(unclosed, source, firstLine(token, start));
    const top = open.at(-1);
    if (CLOSING[token] !== undefined) open.push({ bracket: token, start });
    else if (top && token === CLOSING[top.bracket]) open.pop();
    else if (token === "}" && !top) throw new CompileError(STRAY, source, { start, end: start + 1 });
    else if (token === "}") break; // a parenthesis in this block is not closed
  }
  // The innermost of `a { color: rgb(0 0 0; }`, the outermost of `@media print { a { }`.
  const found = open.findLast(({ bracket }) => bracket !== "{") ?? open[0];
  if (found)
    throw new CompileError(bracketMessage(found.bracket), source, { start: found.start, end: found.start + 1 });
}

const STRAY = "This } closes nothing, because all blocks above it are closed. Remove it, or add the missing {.";

/** Returns what a comment, a string or a `url(` lacks; `undefined` for one that is complete, and for other tokens. */
function unclosedMessage(token: string): string | undefined {
  if (token.startsWith("/*")) {
    const isClosed = token.length >= 4 && token.endsWith("*/");
    return isClosed ? undefined : "This comment is not closed, so browsers ignore all that follows. Add */ at its end.";
  }
  if (/^["']/.test(token)) {
    const [quote = ""] = token;
    const isClosed = /^(["'])(?:\\[\s\S]|[^\\])*\1$/.test(token);
    return isClosed ? undefined : `This string is not closed in its line. Add ${quote} at its end.`;
  }
  if (!/^url\(/i.test(token) || /^url\((?:\\[\s\S]|[^)\\])*\)$/i.test(token)) return undefined;
  return "This url( is not closed. Add ) at its end.";
}

function bracketMessage(bracket: string): string {
  if (bracket === "{")
    return "This { is not closed, so the rules below belong to its block. Add } at the end of the block, or of one inside it.";
  return `This ${bracket} is not closed. Add ${CLOSING[bracket]} at its end.`;
}

/** Returns the range of a token in its first line. */
function firstLine(token: string, start: number): SourceRange {
  return { start, end: start + token.split("\n", 1).join("").length };
}
