import { addRoute, createRouter } from "rou3";
import type { ESTree } from "vite";
import { endpointKey } from "../protocol/index.ts";
import type { Declaration } from "./declarations.ts";
import {
  CompileError,
  isFunctionNode,
  type SourceFile,
  sourceLocation,
  stringValue,
  unwrapExpression,
} from "./syntax/index.ts";

/** A page or a route, as its declaration shows it. */
export interface Endpoint {
  readonly kind: "page" | "route";
  /** Two endpoints with the same key match the same requests. */
  readonly key: string;
  readonly path: string;
  readonly line: number;
  /** The argument with the path. */
  readonly at: ESTree.Argument;
}

/**
 * Returns the pages and routes of a module whose paths are written as text.
 *
 * @throws CompileError for an invalid path, for two endpoints with the same path, and for a page function that takes
 *   properties that are not parameters of its path
 */
export function readEndpoints(declarations: readonly Declaration[], source: SourceFile): Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (const declaration of declarations) {
    const endpoint = readEndpoint(declaration, source);
    if (!endpoint) continue;
    const earlier = endpoints.find(({ key }) => key === endpoint.key);
    if (earlier) {
      throw new CompileError(repeatedPathMessage(endpoint, `line ${earlier.line}`, earlier.kind), source, endpoint.at);
    }
    endpoints.push(endpoint);
    if (declaration.kind === "page") checkPageParameters(declaration, endpoint.path, source);
  }
  return endpoints;
}

/** @param where the location of the earlier one */
export function repeatedPathMessage({ kind, path }: Endpoint, where: string, earlier: Endpoint["kind"]): string {
  const other = kind === earlier ? `Another ${kind}` : `A ${earlier}`;
  return `${other} has the path ${JSON.stringify(path)} already (${where}), so one of them would never be reached. Change one of the paths.`;
}

function readEndpoint({ kind, call }: Declaration, source: SourceFile): Endpoint | undefined {
  const [at] = call.arguments;
  const text = at && stringValue(at);
  if ((kind !== "page" && kind !== "route") || !at || text === undefined) return undefined;
  const { line } = sourceLocation(source, at.start);
  const [, method = "", routePath = text] = /^([A-Z]+) +(.*)$/s.exec(text) ?? [];
  const path = kind === "page" ? text : routePath;
  const problem = kind === "route" && method === "" ? methodProblem(text) : pathProblem(path);
  if (problem) throw new CompileError(problem, source, at);
  return { kind, path, key: endpointKey(kind === "page" ? "GET" : method, path), line, at };
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

/** What pages receive as properties in Next.js, and how to read it here. */
const NEXT_PROPS: Readonly<Record<string, string>> = {
  searchParams: 'Read the query from `request.query`, with `request` of "tsweb".',
  params: 'The function receives the parameters themselves: for the path "/users/:id", write `({ id }) => …`.',
};

/** Rejects a page function that destructures a property that is not a parameter of its path: it would be undefined. */
function checkPageParameters({ call }: Declaration, path: string, source: SourceFile): void {
  const last = call.arguments.at(-1);
  const fn = last && unwrapExpression(last);
  const [pattern] = fn && isFunctionNode(fn) ? fn.params : [];
  if (pattern?.type !== "ObjectPattern" || !/^(?:\/(?:[\w.-]*|(?:\*\*)?:[A-Za-z_]\w*\??))+$/.test(path)) return;
  const names = [...path.matchAll(/:([A-Za-z_]\w*)/g)].map(([, name]) => name ?? "");
  for (const property of pattern.properties) {
    if (property.type === "RestElement" || property.computed || property.value.type === "AssignmentPattern") continue;
    const name = property.key.type === "Identifier" ? property.key.name : stringValue(property.key);
    if (name === undefined || names.includes(name)) continue;
    const known = names.length > 0 ? `Its parameters: ${names.join(", ")}.` : `Write it in the path: \`:${name}\`.`;
    const fix = Object.hasOwn(NEXT_PROPS, name) ? NEXT_PROPS[name] : known;
    throw new CompileError(`The path ${JSON.stringify(path)} has no parameter ${name}. ${fix}`, source, property.key);
  }
}
