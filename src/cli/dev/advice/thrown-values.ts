import { posix } from "node:path";
import { inspect } from "node:util";
import type { InboundRequest } from "../../../http/index.ts";
import type { AppInternals } from "../../../server/index.ts";
import { isThrownError } from "../../errors/index.ts";
import { lineAt, readSourceFiles, type SourceText, withoutComments } from "../../modules/index.ts";
import { relativeFile } from "../../project/index.ts";

/** A page, route or server function, in which a value was thrown. */
export interface ThrowingDeclaration {
  /** For example `the server function sign`. */
  readonly subject: string;
  /** Its module, relative to the project's root. */
  readonly file: string;
  readonly line: number;
}

/** Returns the page, route or server function that handles a request; `undefined` if none does. */
export function declarationOf(
  { targetOf, inspection }: Pick<AppInternals, "targetOf" | "inspection">,
  inbound: InboundRequest,
): ThrowingDeclaration | undefined {
  const { kind, name } = targetOf(inbound);
  const { pages, routes, functions } = inspection;
  switch (kind) {
    case "page":
    case "route": {
      const found = (kind === "page" ? pages : routes).find(({ path }) => path === name);
      return found && { subject: `the ${kind} ${found.path}`, file: found.source.file, line: found.source.line };
    }
    case "call":
    case "stream":
    case "form": {
      const found = functions.find(({ signature }) => signature.name === name)?.signature;
      return found && { subject: `the server function ${found.name}`, file: found.file, line: found.line };
    }
    default:
      return undefined;
  }
}

/**
 * Returns the error that the development server shows for a value that was thrown and is no error, such as a text or
 * `undefined`: it has no stack. Its location is the statement that throws the value, if the project has exactly one, or else
 * the declaration. Returns an error as it is.
 *
 * @param root the application's folder
 * @param declaration what the request is for; `undefined` if unknown, as for an unhandled rejection
 */
export async function explainThrownValue(
  value: unknown,
  root: string,
  declaration?: ThrowingDeclaration,
): Promise<unknown> {
  if (isThrownError(value)) return value;
  const statement = findStatement(value, await readSourceFiles(root), root, declaration);
  const where = statement || !declaration ? "" : ` It was thrown in ${declaration.subject}, or in what it calls.`;
  const error = Object.assign(new Error(`${describe(value)}\n${noErrorMessage(value)}${where}`), {
    name: "Thrown value",
  });
  error.stack = "";
  const line = statement ?? (declaration && { file: posix.join(root, declaration.file), line: declaration.line });
  return Object.assign(error, line ? { loc: { ...line, column: "column" in line ? line.column : 0 } } : {});
}

function describe(value: unknown): string {
  if (typeof value === "string") return value;
  return inspect(value, { depth: 2, maxStringLength: 100, maxArrayLength: 10, breakLength: Number.POSITIVE_INFINITY });
}

function noErrorMessage(value: unknown): string {
  const status = typeof value === "object" && value !== null && "status" in value ? value.status : undefined;
  if (status === 404) return "This value is no Error. Throw `new NotFound()` of tsweb for a page that does not exist.";
  if (status === 401 || status === 403)
    return `This value is no Error. Throw \`new RPCError("${status === 401 ? "unauthenticated" : "forbidden"}", "…")\` of tsweb.`;
  const text = typeof value === "string" && value.length <= 60 && !/["\\\n]/.test(value) ? value : "…";
  const form =
    value === undefined ? '`reject(new Error("…"))` or `throw new Error("…")`' : `\`throw new Error("${text}")\``;
  return `This value is no Error, so it has no stack and no line. Write ${form}.`;
}

interface FoundStatement {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Returns the only statement of the sources that throws a value, or rejects a promise with it. Errs towards `undefined`. */
function findStatement(
  value: unknown,
  sources: readonly SourceText[],
  root: string,
  declaration: ThrowingDeclaration | undefined,
): FoundStatement | undefined {
  const pattern = statementPattern(value);
  if (!pattern) return undefined;
  // Another module may throw an equal value for another reason, unless it is a text.
  const searched =
    typeof value === "string"
      ? sources
      : sources.filter(({ file }) => declaration && file === posix.join(root, declaration.file));
  const found = searched.flatMap(({ file, text }) => {
    const code = withoutComments(text);
    return [...code.matchAll(pattern)].map(({ index }) => ({
      file,
      line: lineAt(code, index),
      column: index - code.lastIndexOf("\n", index) - 1,
    }));
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Matches the statements that throw a text, `undefined` or an object literal. */
function statementPattern(value: unknown): RegExp | undefined {
  if (value === undefined) return /\breject\(\s*(?:undefined\s*)?\)|\bthrow\s+undefined\b/g;
  if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return /\breject\(\s*\{|\bthrow\s+\{/g;
  if (typeof value !== "string" || value === "" || /["'`\\\n]/.test(value)) return undefined;
  const text = value.replace(/[^\w\s]/g, "\\$&");
  return new RegExp(`\\b(?:throw\\s+|reject\\(\\s*)(["'\`])${text}\\1`, "g");
}

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
