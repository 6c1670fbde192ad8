import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFilter, normalizePath } from "vite";
import { BuildError, relativeFile } from "../project/index.ts";
import type { PackageValue } from "./package-options.ts";

/** The files of a project that its build contains in addition to its modules. Paths are relative, with forward slashes. */
export interface IncludedFiles {
  readonly files: readonly string[];
  /** The files that match and are not copied, because they may contain secrets. */
  readonly refused: readonly string[];
}

/** Folders of which nothing is copied, at any level. */
const EXCLUDED_FOLDERS: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** The names at the top of `dist/` that the build itself writes. */
const BUILD_OUTPUT =
  /^(?:client|dist|node_modules|\.compile-cache|(?:app|server|manifest|workers|compile-cache|json-line|log-output|metrics-relay|serialize-error|source-maps)\.mjs(?:\.map)?)$/;

/** Files with environment variables. They belong to a machine and not to a build. */
const ENV_FILE = /^\.env(?:\.|$)/i;

/**
 * Returns the patterns of `"tsweb": { "include": […] }` in a project's package.json.
 *
 * @param options the value of `"tsweb"`
 * @throws BuildError for a value that is not a list of patterns below the project's folder
 */
export function readIncludePatterns(options: PackageValue | undefined): readonly string[] {
  const include = options?.member("include");
  if (!include) return [];
  const { value } = include;
  if (!Array.isArray(value)) throw include.error(`"include" is ${JSON.stringify(value)}. ${EXPECTED}`);
  return value.map((pattern: unknown) => checkPattern(pattern, include));
}

const EXPECTED = 'Expected "tsweb": { "include": ["drizzle/**"] }.';

function checkPattern(pattern: unknown, include: PackageValue): string {
  const refuse = (problem: string) =>
    include.error(`"include" has the pattern ${JSON.stringify(pattern)}, which ${problem}. ${EXPECTED}`);
  if (typeof pattern !== "string" || pattern === "" || pattern.includes("\0")) throw refuse("is not a pattern");
  if (/^[/\\]|^[a-z]:/i.test(pattern)) throw refuse("is not relative to the project's folder");
  if (pattern.includes("\\") || pattern.startsWith("!")) throw refuse("contains a backslash, or a ! at its start");
  const names = pattern.replace(/^\.\//, "").split("/");
  if (names.includes("..")) throw refuse("may leave the project's folder");
  if (names.some((name) => EXCLUDED_FOLDERS.has(name))) throw refuse("names a folder that is never copied");
  if (ENV_FILE.test(names.at(-1) ?? "")) throw refuse("names environment variables, which no build contains");
  if (BUILD_OUTPUT.test(names[0] ?? "")) throw refuse(`would replace a file of the build in dist/`);
  return names.join("/");
}

/**
 * Returns the files that patterns match. A pattern without a wildcard can also name a folder, of which all files match.
 *
 * @throws BuildError for a pattern that matches no file, and for a link that leads out of the project's folder
 */
export function findIncluded(root: string, patterns: readonly string[]): IncludedFiles {
  const found = new Set<string>();
  const refused = new Set<string>();
  for (const pattern of patterns) {
    const start = staticPart(pattern);
    const isMatch = createFilter([pattern, `${pattern.replace(/\/$/, "")}/**`], null, { resolve: root });
    const matches = filesBelow(root, start).filter((file) => isMatch(normalizePath(join(root, file))));
    const copied = matches.filter((file) => !isSecret(root, file));
    for (const file of matches) (isSecret(root, file) ? refused : found).add(file);
    if (copied.length === 0) {
      throw new BuildError(
        `package.json: "include" has the pattern "${pattern}", which matches no file that can be copied. Correct or remove it.`,
      );
    }
  }
  return { files: [...found].sort(), refused: [...refused].sort() };
}

/** Returns the folder or file before the first wildcard of a pattern; an empty text for the project's folder. */
function staticPart(pattern: string): string {
  const names = pattern.split("/");
  const first = names.findIndex((name) => /[*?[\]{}()!+@]/.test(name));
  return (first < 0 ? names : names.slice(0, first)).join("/");
}

/** Returns whether a file contains environment variables, by its name or by that of its target. */
function isSecret(root: string, file: string): boolean {
  const names = [file, relativeFile(realpathSync(root), realpathSync(join(root, file)))];
  return names.some((name) => name.split("/").some((part) => ENV_FILE.test(part)));
}

/** Returns all files of a folder, or the file itself. Links are followed within the project. */
function filesBelow(root: string, path: string, parents: readonly string[] = []): string[] {
  const absolute = join(root, path);
  if (!existsSync(absolute)) return [];
  const target = realpathSync(absolute);
  requireInProject(root, path, target);
  if (!statSync(target).isDirectory()) return statSync(target).isFile() ? [path] : [];
  if (parents.includes(target)) return []; // a link to a folder above it
  return readdirSync(target)
    .filter(
      (name) => !EXCLUDED_FOLDERS.has(name) && !(path === "" && (BUILD_OUTPUT.test(name) || /^\.dist-\d+$/.test(name))),
    )
    .sort()
    .flatMap((name) =>
      filesBelow(root, path === "" ? name : `${path.replace(/\/$/, "")}/${name}`, [...parents, target]),
    );
}

function requireInProject(root: string, path: string, target: string): void {
  const below = relativeFile(realpathSync(root), target);
  const isOutside = below.startsWith("../") || below === ".." || /^(?:\/|[a-z]:)/i.test(below);
  if (!isOutside && !below.split("/").some((name) => EXCLUDED_FOLDERS.has(name))) return;
  throw new BuildError(
    `package.json: "include" matches ${path}, a link to ${target}, which is not copied. Copy the file into the project, or ` +
      "change the pattern.",
  );
}

/** Copies files into the build, to the same paths. Links are replaced by their targets. */
export async function copyIncluded(root: string, files: readonly string[], outDir: string): Promise<void> {
  for (const file of files) {
    const target = join(outDir, file);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, file), target, { dereference: true, errorOnExist: true, force: false });
  }
}
