import { resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { missingImportError } from "../../compile/index.ts";

/** How Vite reports a missing file or package: its runner, twice, its build, and its transformation of browser modules. */
const MESSAGES: readonly RegExp[] = [
  /^Failed to load url (?<specifier>\S+) .* in (?<importer>.+)\. Does the file exist\?/,
  /^Cannot find module '(?<specifier>.+)' imported from '(?<importer>.+)'$/,
  /^\[vite\]: Rolldown failed to resolve import "(?<specifier>.+?)" from "(?<importer>.+?)"/,
  /^Failed to resolve import "(?<specifier>.+?)" from "(?<importer>.+?)"\. Does the file exist\?/,
];

const MISSING_IN_STYLE_SHEET = /^\[postcss\] ENOENT: no such file or directory, open '(?<specifier>[^'/.][^']*)'$/;

/** What is read of an error of Vite: an `Error`, or what Vite sends to pages of it. */
export interface ViteError {
  readonly message: string;
  readonly code?: unknown;
  readonly id?: unknown;
  /** Rolldown's name for the specifier of an import. */
  readonly exporter?: unknown;
}

/**
 * Returns the error of an import of a missing file or package in the words of tsweb: what is missing, where, how to fix it.
 *
 * @returns `undefined` for another error
 */
export function explainMissingImport(
  error: ViteError,
  root: string,
): ReturnType<typeof missingImportError> | undefined {
  const { specifier, importer } = rolldownImport(error) ?? messageImport(error) ?? styleSheetImport(error) ?? {};
  return specifier && importer ? missingImportError(specifier, resolve(root, importer), root) : undefined;
}

interface MissingImport {
  readonly specifier?: string | undefined;
  readonly importer?: string | undefined;
}

function rolldownImport({ code, exporter, id }: ViteError): MissingImport | undefined {
  if (code !== "UNRESOLVED_IMPORT" || typeof exporter !== "string" || typeof id !== "string") return undefined;
  return { specifier: exporter, importer: id };
}

function messageImport(error: ViteError): MissingImport | undefined {
  const message = stripVTControlCharacters(error.message);
  return MESSAGES.map((pattern) => pattern.exec(message)?.groups).find((groups) => groups !== undefined);
}

/** Returns the missing package of an `@import` in a style sheet: PostCSS tries to open a file of this name. */
function styleSheetImport({ message, id }: ViteError): MissingImport | undefined {
  const specifier = MISSING_IN_STYLE_SHEET.exec(stripVTControlCharacters(message))?.groups?.specifier;
  return specifier !== undefined && typeof id === "string" ? { specifier, importer: id.split("?")[0] } : undefined;
}
