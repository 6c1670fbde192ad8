import type { ESTree } from "vite";
import type { Signature, ViewSource } from "../protocol/index.ts";
import { checkDoors } from "./doors.ts";
import { CompileError, placeOf, type Source } from "./errors.ts";
import { type ModuleExports, readExports } from "./exports.ts";
import { findMarks, type Mark } from "./marks.ts";
import { parse } from "./parse.ts";
import { readScopes, type Scope, type Scopes } from "./scope.ts";
import { readSignature } from "./signature.ts";
import { type FunctionNode, isFunction, type Node, unwrap } from "./walk.ts";

/** A module, read: everything the two sides of the compile step and the checks between modules need. */
export interface ModuleFacts {
  readonly source: Source;
  readonly program: ESTree.Program;
  readonly scopes: Scopes;
  readonly exports: ModuleExports;
  readonly marks: readonly Mark[];
  /** Its server functions, in the order of the text. */
  readonly functions: readonly Signature[];
  /** The functions that those are made of, in the same order. */
  readonly declared: readonly FunctionNode[];
  /** Its views, by the names they are exported under. */
  readonly views: readonly ViewSource[];
}

/**
 * Reads a module: its scopes, its exports, and what it marks.
 *
 * @param root the project's root; signatures name files relative to it
 * @throws CompileError for anything in it that tsweb refuses, at its place
 */
export function readModule(source: Source, root: string): ModuleFacts {
  const program = parse(source);
  const scopes = readScopes(program);
  const exports = readExports(program, scopes.module);
  checkDoors(program, source);
  const marks = findMarks(program, scopes, exports, source);
  const file = relativeFile(source.file, root);
  const functions: Signature[] = [];
  const declared: FunctionNode[] = [];
  const views: ViewSource[] = [];
  for (const mark of marks) {
    const fn = checkArguments(mark, source);
    if (mark.kind === "server") {
      const read = signatureOf(mark, fn, { source, scopes, file });
      functions.push(read.signature);
      declared.push(read.fn);
    }
    if (mark.kind === "view") {
      checkView(mark, fn, scopes.module, source);
      views.push({ file, name: mark.name });
    }
  }
  return { source, program, scopes, exports, marks, functions, declared, views };
}

/** Names a file from the project's root, with forward slashes; a file outside keeps its `../`. */
export function relativeFile(file: string, root: string): string {
  const from = root.replace(/\/+$/, "").split("/");
  const to = file.split("/");
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared++;
  return [...from.slice(shared).map(() => ".."), ...to.slice(shared)].join("/");
}

const FORMS = {
  server: { least: 1, most: 2, form: "server(fn) or server({ … }, fn)" },
  page: { least: 2, most: 3, form: "page(path, fn) or page(path, { … }, fn)" },
  route: { least: 2, most: 3, form: "route(path, fn) or route(path, { … }, fn)" },
  view: { least: 1, most: 1, form: "view(fn)" },
} as const;

/** Checks how many arguments a mark has, and gives the last: its function. */
function checkArguments({ kind, call }: Mark, source: Source): Node {
  const { least, most, form } = FORMS[kind];
  const last = call.arguments.at(-1);
  const spread = call.arguments.find((argument) => argument.type === "SpreadElement");
  const counts = call.arguments.length >= least && call.arguments.length <= most;
  if (!last || spread || !counts || unwrap(last).type === "ObjectExpression") {
    throw new CompileError(`${kind}() is called as ${form}.`, source, spread ?? call);
  }
  return last;
}

interface SignatureContext {
  readonly source: Source;
  readonly scopes: Scopes;
  readonly file: string;
}

function signatureOf(
  mark: Mark,
  argument: Node,
  { source, scopes, file }: SignatureContext,
): { signature: Signature; fn: FunctionNode } {
  const { fn, typed } = functionOf(mark, argument, scopes.module, source);
  const wrapped = argument.type === "TSAsExpression" || argument.type === "TSSatisfiesExpression";
  const typedElsewhere = mark.typedElsewhere || typed || wrapped || Boolean(mark.call.typeArguments);
  const { line } = placeOf(source, mark.at.start);
  return { signature: readSignature({ fn, name: mark.name, file, line, typedElsewhere }, source, scopes), fn };
}

/** Finds the function that a server function is made of: written in place, or declared in this module. */
function functionOf(mark: Mark, argument: Node, scope: Scope, source: Source): { fn: FunctionNode; typed: boolean } {
  const refuse = (why: string): never => {
    throw new CompileError(`${why}: write \`export const ${mark.name} = server((…) => …)\`.`, source, argument);
  };
  const inner = unwrap(argument);
  if (isFunction(inner)) return { fn: inner, typed: false };
  if (inner.type !== "Identifier") {
    return refuse("server() takes a function written in this module, since its parameters are read from the text");
  }
  const binding = scope.value(inner.name);
  if (!binding) return refuse(`"${inner.name}" is not declared in this module, so its parameters cannot be read`);
  if (binding.imported) return refuse(`"${inner.name}" is imported, so its parameters cannot be read from this module`);
  if (binding.reassigned) return refuse(`"${inner.name}" is assigned to again, so its parameters are not certain`);
  for (const node of binding.nodes) {
    if (isFunction(node)) return { fn: node, typed: false };
    if (binding.kind !== "const" || node.type !== "VariableDeclarator" || !node.init) continue;
    const value = unwrap(node.init);
    const typed = node.id.type === "Identifier" && Boolean(node.id.typeAnnotation);
    if (isFunction(value) && node.id.type === "Identifier") return { fn: value, typed: typed || value !== node.init };
  }
  return refuse(`"${inner.name}" is not a function declared in this module, or a const that is one`);
}

/** Refuses a view that cannot be synchronous: its markup would be a promise. */
function checkView({ name }: Mark, argument: Node, scope: Scope, source: Source): void {
  const inner = unwrap(argument);
  const named = inner.type === "Identifier" ? scope.value(inner.name)?.nodes.find((node) => isFunction(node)) : inner;
  if (!named || !isFunction(named) || !(named.async || named.generator)) return;
  throw new CompileError(
    `The view "${name}" is ${named.generator ? "a generator" : "async"}, and markup is synchronous: load what it shows in the page and pass it as a prop.`,
    source,
    argument,
  );
}
