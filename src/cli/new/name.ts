import { basename } from "node:path";
import { BuildError } from "../project/index.ts";

/** The longest package name that npm accepts. */
const MAX_NAME_CHARS = 214;

/** A package cannot depend on a package of its own name, and npm reserves the last two. */
const RESERVED: ReadonlySet<string> = new Set(["tsweb", "typescript", "vitest", "node_modules", "favicon.ico"]);

/**
 * Returns a package name that npm accepts, made from the name of a folder: in lower case, without accents, and with
 * dashes for invalid characters; `app` when nothing is left.
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
  return RESERVED.has(name) ? `${name}-app` : name;
}

/**
 * Rejects folder names that are probably a mistake: only spaces, control characters, and a dash at the front, which
 * the next commands would take for an option.
 *
 * @throws BuildError with an example of a valid command
 */
export function checkFolderName(text: string): void {
  if (text.trim() !== "" && !/\p{Cc}/u.test(text) && !text.startsWith("-")) return;
  throw new BuildError(`${JSON.stringify(text)} cannot be the name of a folder. Choose another one: tsweb new shop`);
}
