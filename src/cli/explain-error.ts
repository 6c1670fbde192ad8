import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** A position in one of the application's own files. Line and column count from 1. */
interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** An error, with its location in the application's own files. */
export interface ExplainedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** File, line and column, such as `src/pages.server.tsx:3:7`; empty when unknown. */
  readonly location: string;
  /** The source lines around the location; empty when unknown. */
  readonly frame: string;
}

/**
 * Finds the location of an error in the application's own files, and its source lines.
 *
 * @param root the application's folder, which is removed from paths
 */
export async function explainError(error: unknown, root: string): Promise<ExplainedError> {
  const { name, message, stack } = describe(error);
  const position = (await missingImportPosition(error)) ?? errorPosition(error, stack, root);
  const frame = frameOf(error) ?? (position && (await readFrame(position)));
  return {
    name,
    message: withoutRoot(root, message) + installHint(error),
    stack: withoutRoot(root, stack),
    location: position ? `${relative(root, position.file)}:${position.line}:${position.column}` : "",
    frame: frame ?? "",
  };
}

function withoutRoot(root: string, text: string): string {
  return text.replaceAll(`${root}/`, "").replaceAll("file://", "");
}

function describe(error: unknown): { name: string; message: string; stack: string } {
  if (!(error instanceof Error)) return { name: "Thrown value", message: String(error), stack: "" };
  const { name, message, stack = "" } = error;
  // Vite colours some of its messages for a terminal.
  return { name, message: stripVTControlCharacters(message), stack: stripVTControlCharacters(stack) };
}

/** Errors of Vite and of the compile step have a code frame. */
function frameOf(error: unknown): string | undefined {
  return error instanceof Error && "frame" in error && typeof error.frame === "string" ? error.frame : undefined;
}

/** The messages of Vite's runner for a missing file and a missing package: specifier and importing file. */
const MISSING_IMPORT =
  /^Failed to load url (\S+) .* in (.+)\. Does the file exist\?|^Cannot find module '(.+)' imported from '(.+)'$/;

/**
 * Returns the position of the import of a missing file or package. Vite's runner names the importing file only in
 * its message; with another wording there is no position.
 */
async function missingImportPosition(error: unknown): Promise<SourcePosition | undefined> {
  if (!(error instanceof Error)) return undefined;
  const [, missingFile, fileImporter, missingPackage, packageImporter] = MISSING_IMPORT.exec(error.message) ?? [];
  const [specifier, file] = [missingFile ?? missingPackage, fileImporter ?? packageImporter];
  const text = file && (await readFile(file, "utf8").catch(() => undefined)); // it may have been deleted too
  if (!text || !specifier) return undefined;
  const lines = text.split("\n");
  const index = lines.findIndex((line) => line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`));
  return index < 0 ? undefined : { file, line: index + 1, column: (lines[index]?.indexOf(specifier) ?? 0) + 1 };
}

/** Returns how to fix a missing package. Vite's runner resolves it again after a file was saved. */
function installHint(error: unknown): string {
  const specifier = error instanceof Error ? MISSING_IMPORT.exec(error.message)?.[3] : undefined;
  const [, name] = /^((?:@[^/]+\/)?[^@./][^/]*)/.exec(specifier ?? "") ?? [];
  return name ? `. Install it (npm install ${name}), then save this file.` : "";
}

function errorPosition(error: unknown, stack: string, root: string): SourcePosition | undefined {
  // Vite and the compile step count columns from 0; stacks and editors from 1.
  if (error instanceof Error && "loc" in error && isPosition(error.loc)) {
    return { ...error.loc, column: error.loc.column + 1 };
  }
  for (const [, file = "", line, column] of stack.matchAll(/\(?(?:file:\/\/)?(\/[^():]+):(\d+):(\d+)\)?/g)) {
    if (file.startsWith(`${root}/`) && !file.includes("/node_modules/")) {
      return { file, line: Number(line), column: Number(column) };
    }
  }
  return undefined;
}

function isPosition(value: unknown): value is SourcePosition {
  if (typeof value !== "object" || value === null || !("line" in value) || !("column" in value)) return false;
  return "file" in value && typeof value.file === "string"; // Vite leaves it out for virtual modules
}

async function readFrame({ file, line, column }: SourcePosition): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined); // the file of a source map may not exist
  return text
    ?.split("\n")
    .map((source, index) => ({ source, number: index + 1 }))
    .filter(({ number }) => Math.abs(number - line) <= 3)
    .flatMap(({ source, number }) => {
      const row = `${number === line ? ">" : " "} ${String(number).padStart(4)} | ${source}`;
      return number === line ? [row, `       | ${" ".repeat(Math.max(0, column - 1))}^`] : [row];
    })
    .join("\n");
}
