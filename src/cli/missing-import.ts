import { readFileSync } from "node:fs";
import type { SourcePosition } from "./stack-frames.ts";

/** The messages of Vite's runner for a missing file and a missing package: specifier and importing file. */
const MISSING_IMPORT =
  /^Failed to load url (\S+) .* in (.+)\. Does the file exist\?|^Cannot find module '(.+)' imported from '(.+)'$/;

/** The import of a missing file or package. */
export interface MissingImport {
  /** `undefined` if the import is not found in the importing file. */
  readonly position: SourcePosition | undefined;
  /** How to fix a missing package, to add to the message; empty for a file. */
  readonly hint: string;
}

/**
 * Reads the message of an error about a missing file or package. Vite's runner names the importing file only in its
 * message; with another wording, `undefined` is returned.
 */
export function missingImport(message: string): MissingImport | undefined {
  const [, missingFile, fileImporter, missingPackage, packageImporter] = MISSING_IMPORT.exec(message) ?? [];
  const [specifier, file] = [missingFile ?? missingPackage, fileImporter ?? packageImporter];
  if (!specifier || !file) return undefined;
  return { position: positionOf(specifier, file), hint: installHint(missingPackage) };
}

function positionOf(specifier: string, file: string): SourcePosition | undefined {
  const positions = readLines(file).map((line) => {
    const column = Math.max(line.indexOf(`"${specifier}"`), line.indexOf(`'${specifier}'`)); // at the quote, as Vite
    return column < 0 ? undefined : column + 1;
  });
  const index = positions.findIndex((column) => column !== undefined);
  return index < 0 ? undefined : { file, line: index + 1, column: positions[index] ?? 1 };
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return []; // it may have been deleted too
  }
}

/** Vite's runner resolves the package again after a file was saved. */
function installHint(specifier = ""): string {
  const [, name] = /^((?:@[^/]+\/)?[^@./][^/]*)/.exec(specifier) ?? [];
  return name ? `. Install it (npm install ${name}), then save this file.` : "";
}
