import { lineAt, readSourceFiles, withoutComments } from "../modules/index.ts";
import { relativeFile } from "../project/index.ts";

/** A frame of a function of `node:fs/promises`. Their stacks end there, because they have no frame of the caller. */
const FILE_FUNCTION = /\bat async (?:\w+\.)?(?<name>\w+) \(node:internal\/fs\/promises/g;

/** Functions that run another one: the stack names only this one. */
const CALLERS: Readonly<Record<string, readonly string[]>> = { writeFile: ["writeFile", "appendFile"] };

/**
 * Returns the error of a promise of `node:fs/promises` that nobody has awaited, with the name of the function and the line
 * that calls it, which its stack lacks. Returns any other error as it is.
 *
 * The line is one at which the call is a statement of its own. If several are, all are listed.
 *
 * @param root the application's folder
 */
export async function withUnawaitedFileCall(error: unknown, root: string): Promise<unknown> {
  if (!(error instanceof Error) || error.stack === undefined || !("syscall" in error)) return error;
  const frames = error.stack.split("\n").filter((line) => /^\s*at /.test(line));
  const own = [...error.stack.matchAll(FILE_FUNCTION)].at(-1)?.groups?.name;
  if (own === undefined || frames.some((line) => !line.includes("(node:"))) return error;
  const names = CALLERS[own] ?? [own];
  const calls = await statementsThatCall(names, root);
  const [first] = calls;
  const name = first && calls.every((call) => call.name === first.name) ? first.name : names.join(" or ");
  const where = calls.length > 1 ? ` ${calls.map(({ location }) => location).join(" and ")} call it.` : "";
  const advice = `The promise of ${name} was not awaited.${where} Write \`await\` in front of the call.`;
  const explained = new Error(`${error.message}\n${advice}`);
  explained.stack = "";
  return Object.assign(explained, calls.length === 1 && first ? { loc: first.loc } : {});
}

interface FileCall {
  readonly name: string;
  /** For example `src/log.server.ts:7`. */
  readonly location: string;
  readonly loc: { readonly file: string; readonly line: number; readonly column: number };
}

/** Returns the statements of the project that only call one of the functions, in modules that import `fs/promises`. */
async function statementsThatCall(names: readonly string[], root: string): Promise<FileCall[]> {
  const statement = new RegExp(`^(?<indent>[ \\t]*)(?:void )?(?:\\w+\\.)?(?<name>${names.join("|")})\\(`, "gm");
  return (await readSourceFiles(root)).flatMap(({ file, text }) => {
    if (!/["'](?:node:)?fs(?:\/promises)?["']/.test(text)) return [];
    const code = withoutComments(text);
    return [...code.matchAll(statement)].map(({ index, groups: { indent = "", name = "" } = {} }) => {
      const line = lineAt(code, index);
      return { name, location: `${relativeFile(root, file)}:${line}`, loc: { file, line, column: indent.length } };
    });
  });
}
