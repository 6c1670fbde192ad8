import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { escapeHtml } from "../pages/index.ts";
import { ERROR_PAGE_SCRIPT } from "./dev-assets.ts";

/** Where an error stands in the application's own files. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What there is to say of an error. */
export interface Explained {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** File, line and column, as `src/pages.server.tsx:3:7`; empty when that is not known. */
  readonly where: string;
  /** The lines around the place; empty when it is not known. */
  readonly frame: string;
}

/** Finds out where in the application's own files an error stands, and what stands there. */
export async function explain(error: unknown, root: string): Promise<Explained> {
  const { name, message, stack } = describe(error);
  const place = (await placeOfMissing(error)) ?? placeOf(error, stack, root);
  const frame = frameOf(error) ?? (place && (await frameAt(place)));
  return {
    name,
    message: relativeTo(root, message) + hintOf(error),
    stack: relativeTo(root, stack),
    where: place ? `${relative(root, place.file)}:${place.line}:${place.column}` : "",
    frame: frame ?? "",
  };
}

function relativeTo(root: string, text: string): string {
  return text.replaceAll(`${root}/`, "").replaceAll("file://", "");
}

/** Writes an error for a terminal: what is wrong, where, and the stack where nothing better is known. */
export function errorText({ name, message, stack, where, frame }: Explained): string {
  return where && frame ? `\n${name}: ${message}\n${where}\n${frame}\n` : `\n${stack || `${name}: ${message}`}\n`;
}

/**
 * Writes the page that shows an error to the developer: the message, the lines around it, the
 * stack, and a script that reloads the page once something was edited.
 *
 * @param id the request's, where it came as far as the application
 */
export function errorPage({ name, message, stack, where, frame }: Explained, id: string): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(name)}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<style>${STYLE}</style><script type="module" src="${ERROR_PAGE_SCRIPT}"></script></head><body><main>` +
    `<p>${escapeHtml(name)}</p><h1>${escapeHtml(message)}</h1>` +
    (where ? `<p>${escapeHtml(where)}</p>` : "") +
    (frame ? `<pre>${escapeHtml(frame)}</pre>` : "") +
    `<h2>Stack</h2><pre>${escapeHtml(stack)}</pre>` +
    `<p>${id ? `Request ${escapeHtml(id)}. ` : ""}This page reloads once the error is mended.</p></main></body></html>`
  );
}

const STYLE =
  ":root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}main{max-width:60rem;margin:3rem auto;padding:0 1rem}" +
  "h1{font-size:1.4rem;border-left:4px solid #d33;padding-left:1rem;white-space:pre-wrap}h2{font-size:1rem}" +
  "pre{overflow:auto;padding:1rem;border:1px solid #8884;border-radius:6px;font-size:.875rem}";

function describe(error: unknown): { name: string; message: string; stack: string } {
  if (!(error instanceof Error)) return { name: "Thrown", message: String(error), stack: "" };
  const { name, message, stack = "" } = error;
  // The build tool colours some of its messages for a terminal.
  return { name, message: stripVTControlCharacters(message), stack: stripVTControlCharacters(stack) };
}

/** An error of the build tool, or of our compile step, brings its own lines. */
function frameOf(error: unknown): string | undefined {
  return error instanceof Error && "frame" in error && typeof error.frame === "string" ? error.frame : undefined;
}

/** How the build tool's runner says that a file, or a package, is not there: what is imported, and by which file. */
const MISSING =
  /^Failed to load url (\S+) .* in (.+)\. Does the file exist\?|^Cannot find module '(.+)' imported from '(.+)'$/;

/**
 * Finds the import of a file or a package that is not there. The build tool's runner says who imports
 * it in its message alone; what it does not say in these words has no place, and is shown without.
 */
async function placeOfMissing(error: unknown): Promise<Place | undefined> {
  if (!(error instanceof Error)) return undefined;
  const [, missingFile, by, missingPackage, byFile] = MISSING.exec(error.message) ?? [];
  const [specifier, file] = [missingFile ?? missingPackage, by ?? byFile];
  const text = file && (await readFile(file, "utf8").catch(() => undefined)); // it may be gone as well
  if (!text || !specifier) return undefined;
  const lines = text.split("\n");
  const index = lines.findIndex((line) => line.includes(`"${specifier}"`) || line.includes(`'${specifier}'`));
  return index < 0 ? undefined : { file, line: index + 1, column: (lines[index]?.indexOf(specifier) ?? 0) + 1 };
}

/** What to do about a package that is not there: the runner asks for it anew once a file was saved. */
function hintOf(error: unknown): string {
  const specifier = error instanceof Error ? MISSING.exec(error.message)?.[3] : undefined;
  const [, name] = /^((?:@[^/]+\/)?[^@./][^/]*)/.exec(specifier ?? "") ?? [];
  return name ? `. Install it (npm install ${name}), then save this file.` : "";
}

function placeOf(error: unknown, stack: string, root: string): Place | undefined {
  // The build tool and our compile step count columns from 0, and people and stacks from 1.
  if (error instanceof Error && "loc" in error && isPlace(error.loc)) {
    return { ...error.loc, column: error.loc.column + 1 };
  }
  for (const [, file = "", line, column] of stack.matchAll(/\(?(?:file:\/\/)?(\/[^():]+):(\d+):(\d+)\)?/g)) {
    if (file.startsWith(`${root}/`) && !file.includes("/node_modules/")) {
      return { file, line: Number(line), column: Number(column) };
    }
  }
  return undefined;
}

function isPlace(value: unknown): value is Place {
  if (typeof value !== "object" || value === null || !("line" in value) || !("column" in value)) return false;
  return "file" in value && typeof value.file === "string"; // the build tool leaves it out for what is no file of its own
}

async function frameAt({ file, line, column }: Place): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined); // a mapped file may be gone: then no lines
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
