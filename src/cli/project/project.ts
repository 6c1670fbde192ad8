import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import type { ProjectInfo } from "../../openapi/index.ts";

/** Thrown for a mistake in a project or in how a command is used. Its message is complete without a stack. */
export class BuildError extends Error {
  override get name(): string {
    return "BuildError";
  }
}

/**
 * Checks that an application can be in a folder.
 *
 * @param folder its absolute path
 * @throws BuildError for a path that contains `#` or `?`, which end the path of a module in Vite, or a folder `node_modules`,
 *   whose files are those of installed packages
 */
export function requireUsablePath(folder: string): void {
  const [character] = /[#?]/.exec(folder) ?? [];
  if (character) {
    throw new BuildError(
      `The path ${folder} contains "${character}". Vite cannot load modules from such a folder. Rename it, or choose another one.`,
    );
  }
  if (/[\\/]node_modules(?:[\\/]|$)/.test(folder)) {
    throw new BuildError(
      `The path ${folder} contains a folder node_modules, whose files are treated as those of installed packages. Move the ` +
        "application to another folder.",
    );
  }
}

/**
 * Returns the application module of a folder: `src/app.ts`, `.tsx` or `.js`, as an absolute path.
 *
 * @throws BuildError when there is none, or an application cannot be in this folder
 */
export function findEntry(root: string): string {
  requireUsablePath(root);
  const entry = entryIn(root);
  if (entry) return entry;
  throw new BuildError(missingEntryMessage(root));
}

const ENTRIES = ["src/app.ts", "src/app.tsx", "src/app.js"];

function entryIn(root: string): string | undefined {
  return ENTRIES.map((file) => join(root, file)).find((file) => existsSync(file));
}

/** Returns what is wrong with a folder in which there is no application: it may be another argument. */
function missingEntryMessage(root: string): string {
  const outer = [dirname(root), dirname(dirname(root))].find((folder) => entryIn(folder));
  if (outer !== undefined && existsSync(root)) {
    const fix =
      outer === process.cwd() ? "Leave the argument out: the current folder is that folder." : `Name ${outer}.`;
    return `The argument of this command is the folder that contains src/app.ts, not ${root}. ${fix}`;
  }
  const message = `No application in ${root}: src/app.ts does not exist.`;
  const port = basename(root);
  if (!existsSync(root) && /^\d{2,5}$/.test(port))
    return `${message} To select a port, set the environment variable PORT: \`PORT=${port} tsweb dev\`.`;
  return `${message} Create it with export default new App({…}), or name the application's folder.`;
}

/** Returns the error of an application module that exports no application, located at its `new App`, or its first line. */
export function noApplicationError(root: string, entry: string, options?: ErrorOptions): BuildError {
  const lines = readFileSync(entry, "utf8").split("\n");
  const line = lines.findIndex((text) => /\bnew App\b/.test(text));
  const file = relativeFile(root, entry);
  const error = new BuildError(
    `${file} must export the application as its default: export default new App({…}).`,
    options,
  );
  const loc = {
    file: entry,
    line: Math.max(0, line) + 1,
    column: Math.max(0, lines[line]?.search(/\bnew App\b/) ?? 0),
  };
  return Object.assign(error, { id: entry, loc });
}

/** Matches style sheets in every language that Vite supports. */
export const STYLE_SHEET = /\.(css|scss|sass|less|styl|stylus|pcss|postcss)$/;

/** Returns a file's path relative to a folder, with forward slashes on every system. */
export function relativeFile(root: string, file: string): string {
  return relative(root, file).split(sep).join("/");
}

/** Returns the data in a project's package.json that its OpenAPI document contains. */
export function projectInfo(root: string): ProjectInfo {
  const file = join(root, "package.json");
  if (!existsSync(file)) return {};
  const { version, description, license, author }: Readonly<Record<string, unknown>> = JSON.parse(
    readFileSync(file, "utf8").replace(/^\uFEFF/, ""),
  );
  return { version: text(version), description: text(description), license: text(license), author: person(author) };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Reads the author: an object, or `Ada <ada@shop.example> (https://shop.example)`. */
function person(author: unknown): ProjectInfo["author"] {
  const parts: Readonly<Record<string, unknown>> | undefined =
    typeof author === "string"
      ? /^(?<name>[^<(]*)(?:<(?<email>[^>]*)>)?\s*(?:\((?<url>[^)]*)\))?/.exec(author.trim())?.groups
      : typeof author === "object" && author !== null
        ? { ...author }
        : undefined;
  const members = ["name", "email", "url"].flatMap((key) => {
    const value = text(parts?.[key])?.trim();
    return value ? [[key, value] as const] : [];
  });
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

/** Thrown for a mistake on the command line. It is printed without a stack. */
export class UsageError extends Error {}

/** The names of errors whose message is complete: they are printed without a stack. */
const EXPECTED: ReadonlySet<string> = new Set([
  "ConfigError",
  "CompileError",
  "ProjectError",
  "BuildError",
  "ListenError",
]);

/** Prints the error of a command, and exits with status 1. */
export function exitWithError(error: unknown): void {
  const isExpected = error instanceof Error && (error instanceof UsageError || EXPECTED.has(error.name));
  console.error(isExpected ? error.message : error);
  exitAfterOutput(1);
}

/** Exits after all output was written, even when a loaded application keeps the process alive, for example by a database. */
export function exitAfterOutput(code: number): void {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

const PAGE = '`export const home = page("/", () => <main>…</main>)` in a module that `modules` of new App lists';

/** The script of an application whose document Vite serves: `<script type="module" src="/src/main.tsx">`. */
const SCRIPT = /<script\b[^>]*\bsrc\s*=\s*["']?\.?\/?(?<path>[^"'>\s:]+\.[cm]?[jt]sx?)\b[^>]*>/gi;

/**
 * Returns a note about each HTML file of a project that looks like its start page and is none: `index.html` in the folder of
 * public files, which is served at `/index.html` only, and one beside package.json that loads a script of the project, as Vite
 * has it, which is not used at all.
 *
 * @param publicDir the folder of public files; empty without one
 */
export function htmlFileNotes(root: string, publicDir: string): string[] {
  const notes: string[] = [];
  const document = join(root, "index.html");
  const script = existsSync(document) ? projectScript(readFileSync(document, "utf8"), root) : undefined;
  if (script !== undefined) {
    notes.push(
      `index.html:${script.line} loads ${script.path}, as an application of Vite does. tsweb does not use this file. Write the ` +
        `markup of the page as ${PAGE}, what all pages share as the \`layout\` of new App, and import scripts in a view.`,
    );
  }
  const file = publicDir === "" ? "" : join(publicDir, "index.html");
  if (file !== "" && existsSync(file)) {
    notes.push(
      `${relativeFile(root, file)} is served at /index.html, and is not the page "/". Write its markup as ${PAGE}, and delete ` +
        "the file.",
    );
  }
  return notes;
}

/** Returns the first script of the project that a document loads, with its line. */
function projectScript(html: string, root: string): { readonly path: string; readonly line: number } | undefined {
  const text = html.replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, " "));
  for (const { index, groups } of text.matchAll(SCRIPT)) {
    const path = groups?.path ?? "";
    if (!path.startsWith(".") && existsSync(join(root, path)))
      return { path: `/${path}`, line: text.slice(0, index).split("\n").length };
  }
  return undefined;
}

/**
 * Returns the line which says that a command does not check types. `undefined` if the project has no types to check, or
 * the script that runs the command has checked them, such as `"build": "tsc && tsweb build"`.
 *
 * @param env the environment variables; package managers store the script in one of them
 */
export function typesNotice(root: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!existsSync(join(root, "tsconfig.json"))) return undefined;
  if (/\b(?:tsc|tsgo)\b/.test(env.npm_lifecycle_script ?? "")) return undefined;
  return "Types are not checked. Check them with: npx tsc --noEmit";
}

/** Returns the text of a file; `undefined` if it cannot be read. */
export function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
