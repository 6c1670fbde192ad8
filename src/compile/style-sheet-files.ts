import { existsSync } from "node:fs";
import { posix } from "node:path";
import type { ModuleResolver } from "./modules/index.ts";
import { missingImportMessage } from "./rules/index.ts";
import { CompileError, type SourceFile, stripQuery } from "./syntax/index.ts";

/** A relative path in `url(…)`, or after `@import`. */
const RELATIVE_PATH = /(?:\burl\(\s*|@import\s+)(["']?)(?<path>\.{1,2}\/[^"'()\s\\]+)\1/gi;

/**
 * Checks that the files exist to which a style sheet in CSS refers by relative paths. Vite leaves a path without a file in
 * the built style sheet, where it leads to another folder.
 *
 * Errs towards silence: it does not check Sass and Less, whose paths are relative to several folders, and can be computed.
 *
 * @param source the style sheet, its comments blanked out
 * @throws CompileError at the first path without a file
 */
export async function checkStyleSheetFiles(source: SourceFile, resolver: ModuleResolver): Promise<void> {
  if (!/\.css$/i.test(source.file)) return;
  for (const { 0: text, index, groups } of source.code.matchAll(RELATIVE_PATH)) {
    const path = groups?.path ?? "";
    if (existsSync(posix.resolve(posix.dirname(source.file), decodePath(stripQuery(path))))) continue;
    if (await resolver.resolve(path, source.file)) continue; // by a plugin
    const start = index + text.indexOf(path);
    const message = missingImportMessage(path, source.file, resolver.root);
    throw new CompileError(message, source, { start, end: start + path.length });
  }
}

function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
