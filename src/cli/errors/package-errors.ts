import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ProjectError } from "../../compile/index.ts";
import type { ViteError } from "./missing-imports.ts";

/**
 * Returns the error about a package.json of the project that is not valid JSON, with its location. Vite's error is that of
 * `JSON.parse`, which does not name the file; so the file is parsed again, and the errors are compared.
 *
 * @returns `undefined` for another error
 */
export function explainPackageError(error: ViteError, root: string): ProjectError | undefined {
  if (!/ in JSON| JSON input|not valid JSON/.test(error.message)) return undefined;
  const file = join(root, "package.json");
  const text = readIfExists(file)?.replace(/^\uFEFF/, "");
  const problem = text === undefined ? undefined : jsonProblem(text);
  if (text === undefined || problem === undefined || !error.message.includes(problem)) return undefined;
  const { position, reason } = /^(?<reason>.*?)(?: in JSON)? at position (?<position>\d+)/.exec(problem)?.groups ?? {};
  const before = text.slice(0, position === undefined ? text.trimEnd().length : Number(position)).split("\n");
  const loc = { file, line: before.length, column: before.at(-1)?.length ?? 0 };
  return Object.assign(new ProjectError(`package.json is not valid JSON: ${reason ?? problem}. Correct it.`), {
    id: file,
    loc,
  });
}

/** Returns the message with which a text cannot be parsed; `undefined` if it is valid JSON. */
function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
