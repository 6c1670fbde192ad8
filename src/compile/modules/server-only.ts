import { realpathSync } from "node:fs";
import { posix } from "node:path";
import { isInNodeModules, isScript, stripQuery } from "../syntax/index.ts";

/**
 * The suffix `.server`, at the end of a name or before another suffix. White space and `:` also end it, because Windows
 * opens `x.server ` and `x.server::$DATA` as `x.server`. Case is ignored as file systems do: `ſ` is an `s` (flag `u`).
 */
const SERVER_SUFFIX = /\.server(?:[.:\s]|$)/iu;

/** The names of files with environment variables: `.env`, `.env.local`. White space and `:` end them as above. */
const ENV_FILE = /^\.env(?:[.:\s]|$)/iu;

/** Characters that HFS+ ignores in names (CVE-2014-9390). */
const IGNORED_CHARACTERS = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Returns whether a path contains a name for the server only: `*.server.*`, `*.server`, `.env`, `.env.*`, or a folder of
 * such a name. Errs towards yes. Both kinds of slashes separate names.
 */
export function namesServerOnly(path: string): boolean {
  return path
    .replace(IGNORED_CHARACTERS, "")
    .split(/[\\/]/)
    .some((name) => SERVER_SUFFIX.test(name) || ENV_FILE.test(name));
}

/**
 * Returns whether a file is server-only, which means that no browser may receive its text: everything named `*.server.*`,
 * everything in a folder named `*.server`, whatever its type, and files of environment variables (`.env`, `.env.*`).
 * Files below `node_modules` are not.
 *
 * This is the only definition. The build and the development server both use it: imports (`browser-imports.ts`), other
 * references of scripts and style sheets (`compiler.ts`, `style-sheets.ts`), assets and public files (`published-files.ts`),
 * and URLs of the development server (`dev-url-guard.ts`). It judges a name, so check a link's real path too:
 * {@link serverOnlyFile}.
 *
 * @param id a file, absolute or relative to the root. A query and a hash do not count.
 * @param root the project's root. Names of folders above it do not count.
 */
export function isServerOnly(id: string, root: string): boolean {
  const path = stripQuery(id).replaceAll("\\", "/");
  const file = posix.normalize(/^(?:\/|[a-z]:)/i.test(path) ? path : `${root}/${path}`);
  return !isInNodeModules(file) && namesServerOnly(relativePath(file, root));
}

/**
 * Returns whether a file is a server module: a server-only script, for which browser code receives stubs. A script such
 * as `a.server.test.ts` is server-only and not a server module.
 */
export function isServerModule(file: string, root: string): boolean {
  const isNamed = /\.server\.[^./]+$/i.test(file);
  return isScript(file) && isServerOnly(isNamed ? file : posix.dirname(file), root);
}

/** A reference of browser code to a file. */
export interface FileReference {
  /** As written, query included. */
  readonly specifier: string;
  /** The file that contains it; absent for an input of the build. */
  readonly importer?: string | undefined;
  /** The id that the specifier resolves to. */
  readonly id: string;
}

/**
 * Returns the server-only file that a reference leads to, `undefined` if there is none. The path in the specifier, the
 * resolved path and the real path are judged, because each of them can be the name of a link.
 */
export function serverOnlyFile({ specifier, importer, id }: FileReference, root: string): string | undefined {
  const file = stripQuery(id);
  if (!/^(?:\/|[a-z]:)/i.test(file) || isInNodeModules(file)) return undefined;
  const path = stripQuery(specifier);
  const named = path.startsWith(".") && importer ? posix.resolve(posix.dirname(stripQuery(importer)), path) : path;
  return [realPath(file), file, named].find((candidate) => isServerOnly(candidate, root));
}

/** Returns the path of a file without symbolic links; the path itself if there is no such file. */
export function realPath(file: string): string {
  try {
    return realpathSync.native(file).replaceAll("\\", "/");
  } catch {
    return file; // a virtual module, or a path that names nothing: there is no text that could be sent
  }
}

/**
 * Returns the error message for a reference to a server-only file.
 *
 * @param file the file, relative to the root
 * @param use what is wrong with the reference, a verb phrase such as "cannot be imported"
 */
export function serverOnlyMessage(file: string, use: string): string {
  if (
    !file
      .replace(IGNORED_CHARACTERS, "")
      .split("/")
      .some((name) => SERVER_SUFFIX.test(name))
  ) {
    return `${file} contains environment variables, which no browser may receive, so it ${use}.`;
  }
  return `${file} is server-only, because its name or the name of a folder in its path ends in ".server", so it ${use}. Rename it if browsers may receive it.`;
}

/** Returns a file's path relative to the project's root, with forward slashes. Outside the root it starts with `../`. */
export function relativePath(file: string, root: string): string {
  const from = root.replace(/\/+$/, "").split("/");
  const to = file.split("/");
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared++;
  return [...from.slice(shared).map(() => ".."), ...to.slice(shared)].join("/");
}

/** A mistake in the application's files. The message is complete, also without a location and a stack. */
export class ProjectError extends Error {
  override get name(): string {
    return "ProjectError";
  }
}

/** Thrown when something would send a server-only file to a browser. */
export class ServerOnlyError extends ProjectError {
  override get name(): string {
    return "ServerOnlyError";
  }
}
