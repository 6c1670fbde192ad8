import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ProjectError } from "../../compile/index.ts";
import type { ViteError } from "./missing-imports.ts";

const NOT_FOUND = /Tsconfig not found (?<base>\S+)/;

const INVALID_JSON =
  /JSONError \{ path: "(?<file>.+?)", message: "(?<problem>.+?)", line: (?<line>\d+), column: (?<column>\d+) \}/;

/**
 * Returns the error about a tsconfig.json that Vite cannot read, with its fix: one that is not valid JSON, or extends a file
 * that does not exist. `undefined` for another error.
 */
export function explainTsconfigError(error: ViteError, root: string): ProjectError | undefined {
  const message = stripVTControlCharacters(error.message);
  const { file, problem, line, column } = INVALID_JSON.exec(message)?.groups ?? {};
  if (file && problem) {
    const id = resolve(root, file);
    const loc = { file: id, line: Number(line), column: Math.max(0, Number(column) - 1) };
    const text = problem.replaceAll('\\"', '"').replace(/ at line \d+ column \d+$/, "");
    return Object.assign(new ProjectError(`${problemSentence(text)} Correct it.`), { id, loc });
  }
  const { base } = NOT_FOUND.exec(message)?.groups ?? {};
  return base ? missingBaseError(base, root) : undefined;
}

/** Returns the problem of a file; Rolldown names the types of JSON as Rust does. */
function problemSentence(problem: string): string {
  if (problem === "expected ident") return "This file is not valid JSON: `true`, `false` or `null` is misspelled here.";
  if (!/^invalid (?:type|length)/.test(problem)) return `This file is not valid JSON: ${problem}.`;
  const [, received, expected] = /^invalid type: (.+), expected (.+)$/.exec(problem) ?? [];
  if (received === undefined || expected === undefined) return "This value has the wrong type.";
  const names: Readonly<Record<string, string>> = { "a map": "an object", "a sequence": "a list" };
  return `This value has the wrong type: it is ${received}, and must be ${names[expected] ?? expected}.`;
}

function missingBaseError(base: string, root: string): ProjectError {
  const [, name] = /^((?:@[^/]+\/)?[^./][^/]*)/.exec(base) ?? [];
  const fix = name
    ? `Install its package (npm install --save-dev ${name}), or correct "extends".`
    : 'Correct "extends".';
  const error = new ProjectError(`A tsconfig.json extends "${base}", which does not exist. ${fix}`);
  const id = resolve(root, "tsconfig.json");
  const lines = existsSync(id) ? readFileSync(id, "utf8").split("\n") : [];
  const written = [`"${base}"`, `"./${base}"`]; // Rolldown leaves out the `./`
  const columns = lines.map((text) => Math.max(...written.map((each) => text.indexOf(each))));
  const index = columns.findIndex((column) => column >= 0); // it may be in another tsconfig.json
  if (index < 0) return error;
  return Object.assign(error, { id, loc: { file: id, line: index + 1, column: columns[index] ?? 0 } });
}
