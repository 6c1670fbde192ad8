import { type ESTree, parseAst } from "vite";
import { CompileError, type SourceFile, sourceLocation } from "./compile-error.ts";
import { languageOf } from "./module-id.ts";
import { syntaxHint } from "./syntax-hints.ts";
import { findUnclosedElement } from "./unclosed-elements.ts";

/**
 * Parses a module, with its types and parentheses.
 *
 * @throws CompileError on a syntax error
 */
export function parse(source: SourceFile): ESTree.Program {
  const lang = languageOf(source.file) ?? "tsx";
  try {
    return parseAst(source.code, { lang, sourceType: "module", preserveParens: true }, source.file);
  } catch (error) {
    throw asCompileError(error, source);
  }
}

function asCompileError(error: unknown, source: SourceFile): CompileError {
  const position = typeof error === "object" && error !== null && "pos" in error ? Number(error.pos) : 0;
  const text = error instanceof Error ? error.message : String(error);
  // The parser's message continues with a code frame. CompileError adds its own.
  const message = text.split("\n").find((line) => line !== "" && !line.startsWith("Parse failed")) ?? text;
  const offset = Number.isFinite(position) ? position : 0;
  const unclosed = /^(?:Unexpected|Expected)/.test(message.trim())
    ? findUnclosedElement(source.file, source.code, offset)
    : undefined;
  if (unclosed) {
    const { line } = sourceLocation(source, unclosed.start);
    const { name } = unclosed;
    return new CompileError(
      `\`<${name}>\` in line ${line} is not closed. Write \`</${name}>\` after its children.`,
      source,
      unclosed,
    );
  }
  const hint = syntaxHint(message.trim(), source.code, offset);
  return new CompileError(hint === "" ? message.trim() : `${withPeriod(message.trim())} ${hint}`, source, {
    start: offset,
    end: offset + 1,
  });
}

function withPeriod(sentence: string): string {
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
