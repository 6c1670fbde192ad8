import { basename } from "node:path";
import { BuildError } from "./project.ts";

/** The most characters that npm takes in a name. */
const MAX_NAME_CHARS = 214;

/** A package cannot depend on one of its own name, and these two npm keeps to itself. */
const TAKEN: ReadonlySet<string> = new Set(["tsweb", "typescript", "vitest", "node_modules", "favicon.ico"]);

/**
 * Makes a package's name that npm takes of the last part of a folder's path: in lower case, without
 * accents, a dash for whatever else it cannot have. `app` where nothing is left.
 *
 * @param dir the folder's absolute path
 */
export function packageName(dir: string): string {
  const name = basename(dir)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[-._]+/, "")
    .slice(0, MAX_NAME_CHARS)
    .replace(/[-.]+$/, "");
  if (name === "") return "app";
  return TAKEN.has(name) ? `${name}-app` : name;
}

/**
 * Refuses what was hardly meant as a folder's name: nothing but space, control characters, and a
 * dash in front, which the commands that come next would take for an option.
 *
 * @throws BuildError that says what to write
 */
export function requireFolderName(text: string): void {
  if (text.trim() !== "" && !/\p{Cc}/u.test(text) && !text.startsWith("-")) return;
  throw new BuildError(`${JSON.stringify(text)} is no name for a folder. Write one as in: tsweb new shop`);
}
