import type { ModuleFacts } from "../modules/index.ts";
import { CompileError } from "../syntax/index.ts";

/** Matches the ways to export the name `then`, which `checkThenExport` rejects, except by variables. */
const EXPORTS_THEN =
  /\bexport\s+(?:(?:abstract|async|const|declare)\s+)*(?:class|enum|function|import|module|namespace)\b[\s*]*then\b|\bexport\s*\{[^}]*\bthen\b[^}]*\}|\bexport\s*\*\s*as\s*["']?then\b/;

/** Together, these match modules with an exported variable `then`, alone, in a pattern or behind others. */
const EXPORTS_VARIABLES = /\bexport\s+(?:const|let|var)\b/;
const NAMES_THEN = /(?:[\s,:[{]|\.{3})then\s*[!,:;=\]}]/;

/** Returns whether a module may export the name `then`, without parsing it. Errs towards yes. */
export function mayExportThen(code: string): boolean {
  return EXPORTS_THEN.test(code) || (NAMES_THEN.test(code) && EXPORTS_VARIABLES.test(code));
}

/**
 * Rejects an export `then`. Its module would be a thenable: `await import(…)` calls that, and waits for it forever.
 *
 * @throws CompileError at the export
 */
export function checkThenExport({ exports, source }: ModuleFacts): void {
  const entry = exports.named.find(({ name, isType }) => name === "then" && !isType);
  if (!entry) return;
  throw new CompileError(
    "A module cannot export `then`: `import()` would call it as that of a promise, and wait forever. Export it under another name.",
    source,
    entry.at,
  );
}
