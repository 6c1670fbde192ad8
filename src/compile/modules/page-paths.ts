import { addRoute, createRouter } from "rou3";
import type { ESTree } from "vite";
import { endpointKey } from "../../protocol/index.ts";
import { CompileError, type SourceFile, sourceLocation, stringValue } from "../syntax/index.ts";
import type { Declaration, Mistakes } from "./declarations.ts";

/** A page or a route, as its declaration shows it. */
export interface Endpoint {
  readonly kind: "page" | "route";
  /** The name of its export. */
  readonly name: string;
  /** Two endpoints with the same key match the same requests. */
  readonly key: string;
  readonly path: string;
  /** The text of the argument: the path, for a route with its method. */
  readonly pattern: string;
  readonly line: number;
  readonly call: ESTree.CallExpression;
  /** The argument with the path. */
  readonly at: ESTree.Argument;
}

/**
 * Returns the pages and routes of a module whose paths are written as text. An invalid path, and two endpoints with the same
 * path, are mistakes.
 */
export function readEndpoints(
  declarations: readonly Declaration[],
  source: SourceFile,
  mistakes: Mistakes,
): Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (const declaration of declarations) {
    mistakes.collect(() => {
      const endpoint = readEndpoint(declaration, source);
      const earlier = endpoints.find(({ key }) => key === endpoint?.key);
      if (!endpoint) return;
      if (!earlier) endpoints.push(endpoint);
      else
        throw new CompileError(
          repeatedPathMessage(endpoint, `line ${earlier.line}`, earlier.kind),
          source,
          endpoint.at,
        );
    });
  }
  return endpoints;
}

/** @param where the location of the earlier one */
export function repeatedPathMessage({ kind, path }: Endpoint, where: string, earlier: Endpoint["kind"]): string {
  const other = kind === earlier ? `Another ${kind}` : `A ${earlier}`;
  return `${other} has the path ${JSON.stringify(path)} already (${where}), so one of them would never be reached. Change one of the paths.`;
}

function readEndpoint({ kind, name, call }: Declaration, source: SourceFile): Endpoint | undefined {
  const [at] = call.arguments;
  const text = at && stringValue(at);
  if ((kind !== "page" && kind !== "route") || !at || text === undefined) return undefined;
  const { line } = sourceLocation(source, at.start);
  const [, method = "", routePath = text] = /^([A-Z]+) +(.*)$/s.exec(text) ?? [];
  const path = kind === "page" ? text : routePath;
  const problem = kind === "route" && method === "" ? methodProblem(text) : pathProblem(path);
  if (problem) throw new CompileError(problem, source, at);
  return { kind, name, path, pattern: text, key: endpointKey(kind === "page" ? "GET" : method, path), line, call, at };
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

function methodProblem(pattern: string): string {
  const [, word = "", path = pattern] = /^([A-Za-z]+)\s+(\/.*)$/s.exec(pattern) ?? [];
  const route = `The route ${JSON.stringify(pattern)}`;
  const method = METHODS.find((name) => name === word.toUpperCase());
  if (method) return `${route} has its method in small letters. Write ${JSON.stringify(`${method} ${path}`)}.`;
  return `${route} has no method. Write it before the path, for example ${JSON.stringify(`GET ${path}`)}.`;
}

/** Returns what is wrong with the path of a page or a route; `undefined` for a valid path. */
export function pathProblem(path: string): string | undefined {
  const invalid = `Invalid path ${JSON.stringify(path)}.`;
  if (!path.startsWith("/") || path.startsWith("//")) {
    const isNameOnly = /^[\w:-][\w:/-]*$/.test(path) && !path.includes("//");
    return `${invalid} A path starts with one slash. Write ${isNameOnly ? JSON.stringify(`/${path}`) : 'for example "/users"'}.`;
  }
  if (/[?&][\w-]*=/.test(path))
    return `${invalid} A path has no query. Remove ${JSON.stringify(path.slice(path.search(/[?&][\w-]*=/)))}, and read the query from \`request.query\`.`;
  const converted = convertParameters(path);
  if (converted !== path) return `${invalid} A parameter is written with a colon. Write ${JSON.stringify(converted)}.`;
  return routerProblem(path, invalid);
}

/** Converts the parameters of other frameworks: `[id]`, `[...rest]`, `{id}` and `<id>`. */
function convertParameters(path: string): string {
  return path
    .split("/")
    .map((segment) =>
      segment
        .replace(/^\[{1,2}\.{3}([A-Za-z_]\w*)\]{1,2}$/, "**:$1")
        .replace(/^\[([A-Za-z_]\w*)\]$/, ":$1")
        .replace(/^\{([A-Za-z_]\w*)\}$/, ":$1")
        .replace(/^<(?:\w+:)?([A-Za-z_]\w*)>$/, ":$1"),
    )
    .join("/");
}

function routerProblem(path: string, invalid: string): string | undefined {
  try {
    addRoute(createRouter(), "GET", path, true);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const reason = error.message.replace(/^rou3: /, "").replace(` (${path})`, "");
    return `${invalid} The router reports: ${reason}. Write parameters as "/users/:id", and the rest of a path as "/docs/**:rest".`;
  }
}
