import type { ESTree } from "vite";
import type { Signature, ViewSource } from "../../protocol/index.ts";
import {
  CompileError,
  declaredValue,
  type FunctionNode,
  type ImportedName,
  isFunctionNode,
  isMarkup,
  keyName,
  type ModuleExports,
  type Node,
  parse,
  readExports,
  readScopes,
  rejectRedeclarations,
  type Scope,
  type Scopes,
  type SourceFile,
  sourceLocation,
  stringValue,
  unwrapExpression,
} from "../syntax/index.ts";
import { type Declaration, findDeclarations, Mistakes } from "./declarations.ts";
import { type Endpoint, readEndpoints } from "./page-paths.ts";
import { isServerModule, relativePath } from "./server-only.ts";
import { readSignature } from "./signature.ts";

/** The data that the compile step reads from the text of one module. It does not depend on other modules. */
export interface ModuleFacts {
  readonly source: SourceFile;
  readonly isServerModule: boolean;
  readonly program: ESTree.Program;
  readonly scopes: Scopes;
  readonly exports: ModuleExports;
  /** The calls of `server()`, `query()`, `page()`, `route()` and `view()`, in source order. */
  readonly declarations: readonly Declaration[];
  /** The signatures of its server functions, in source order. */
  readonly functions: readonly Signature[];
  /** The nodes of its server functions, in the same order. */
  readonly functionNodes: readonly FunctionNode[];
  /** The signatures of its queries, in source order. */
  readonly queries: readonly Signature[];
  /** The nodes of its queries, in the same order. */
  readonly queryNodes: readonly FunctionNode[];
  /** Its views, by their exported names, in source order. */
  readonly views: readonly ViewSource[];
  /** Its pages and routes whose paths are written as text, in source order. */
  readonly endpoints: readonly Endpoint[];
  /** The mistakes in its declarations. What has one may be absent above. */
  readonly mistakes: readonly CompileError[];
}

/**
 * Reads a module: its scopes, its exports and its declarations.
 *
 * @param root the project's root; the file names in signatures are relative to it
 * @throws CompileError when the module is no JavaScript or TypeScript
 */
export function readModule(source: SourceFile, root: string): ModuleFacts {
  const program = parse(source);
  const scopes = readScopes(program);
  rejectRedeclarations(scopes, source);
  const exports = readExports(program, scopes.module);
  const isServer = isServerModule(source.file, root);
  const mistakes = new Mistakes();
  const declarations = findDeclarations(program, { source, scopes, exports, isServerModule: isServer }, mistakes);
  const file = relativePath(source.file, root);
  const functions: Signature[] = [];
  const functionNodes: FunctionNode[] = [];
  const queries: Signature[] = [];
  const queryNodes: FunctionNode[] = [];
  const views: ViewSource[] = [];
  for (const declaration of declarations) {
    mistakes.collect(() => {
      const fn = checkArguments(declaration, source);
      if (declaration.kind === "view")
        views.push({ file, name: declaration.name, ...readHydrate(declaration, source) });
      if (declaration.kind !== "server" && declaration.kind !== "query") return;
      const isQuery = declaration.kind === "query";
      const serverFunction = readServerFunction(declaration, fn, { source, scopes, file, isQuery });
      if (isQuery) checkQuery(serverFunction.signature, serverFunction.fn, source);
      (isQuery ? queries : functions).push(serverFunction.signature);
      (isQuery ? queryNodes : functionNodes).push(serverFunction.fn);
    });
  }
  const endpoints = readEndpoints(declarations, source, mistakes);
  const text = { source, isServerModule: isServer, program, scopes, exports };
  return {
    ...text,
    declarations,
    functions,
    functionNodes,
    queries,
    queryNodes,
    views,
    endpoints,
    mistakes: mistakes.found,
  };
}

const CALL_FORMS = {
  server: { min: 1, max: 2, form: "server(fn) or server({ … }, fn)" },
  query: { min: 2, max: 2, form: "query({ on: … }, fn)" },
  page: { min: 2, max: 3, form: "page(path, fn) or page(path, { … }, fn)" },
  route: { min: 2, max: 3, form: "route(pattern, fn) or route(pattern, { … }, fn)" },
  view: { min: 1, max: 2, form: "view(fn) or view({ … }, fn)" },
} as const;

/** Checks the number of a declaration's arguments and returns the last one: its function. */
function checkArguments({ kind, call }: Declaration, source: SourceFile): Node {
  const { min, max, form } = CALL_FORMS[kind];
  const last = call.arguments.at(-1);
  const spread = call.arguments.find((argument) => argument.type === "SpreadElement");
  const isCountValid = call.arguments.length >= min && call.arguments.length <= max;
  if (!last || spread || !isCountValid || unwrapExpression(last).type === "ObjectExpression") {
    throw new CompileError(`Invalid arguments of ${kind}(). Call it as ${form}.`, source, spread ?? call);
  }
  const value = unwrapExpression(last);
  if (isMarkup(value) && (kind === "page" || kind === "view")) {
    const message = `${kind}() takes a function that returns markup, and this is markup. Write \`() =>\` before it.`;
    throw new CompileError(message, source, value);
  }
  return last;
}

/**
 * Returns the option of a view. It is read from the source, because the server must know it without the browser.
 *
 * @throws CompileError for anything but one of its two values, written as text
 */
function readHydrate({ call }: Declaration, source: SourceFile): Pick<ViewSource, "hydrate"> {
  if (call.arguments.length < 2) return {};
  const [argument] = call.arguments;
  const options = argument && unwrapExpression(argument);
  const [property, ...others] = options?.type === "ObjectExpression" ? options.properties : [];
  if (property?.type === "Property" && !property.computed && others.length === 0) {
    const name = keyName(property);
    const value = stringValue(property.value);
    if (name === "hydrate" && (value === "visible" || value === "idle")) return { hydrate: value };
  }
  const message = 'The only option of a view is { hydrate: "visible" } or { hydrate: "idle" }, written as text.';
  throw new CompileError(message, source, argument ?? call);
}

interface SignatureContext {
  readonly source: SourceFile;
  readonly scopes: Scopes;
  readonly file: string;
  readonly isQuery: boolean;
}

function readServerFunction(
  declaration: Declaration,
  argument: Node,
  { source, scopes, file, isQuery }: SignatureContext,
): { signature: Signature; fn: FunctionNode } {
  const { fn, typed } = findFunction(declaration, argument, scopes.module, source);
  const wrapped = argument.type === "TSAsExpression" || argument.type === "TSSatisfiesExpression";
  const typedElsewhere = declaration.typedElsewhere || typed || wrapped || Boolean(declaration.call.typeArguments);
  const { line } = sourceLocation(source, declaration.nameRange.start);
  const kind = isQuery ? "query" : "server function";
  const signature = readSignature({ kind, fn, name: declaration.name, file, line, typedElsewhere }, source, scopes);
  return { signature, fn };
}

/**
 * Rejects what only a server function can have: streamed values, and a default without a type. The types of `on` follow from those
 * of the function only if every parameter has one.
 */
function checkQuery({ name, stream }: Signature, fn: FunctionNode, source: SourceFile): void {
  const reject = (problem: string, at: Node): never => {
    throw new CompileError(`The query "${name}" ${problem}`, source, at);
  };
  if (stream) reject("is written with function*, but a query has one value. Return an array, or use server().", fn);
  for (const param of fn.params) {
    const isUntyped =
      param.type === "AssignmentPattern" && param.left.type === "Identifier" && !param.left.typeAnnotation;
    if (isUntyped) {
      reject(
        `has a parameter with a default and without a type, so \`on\` would get no type for it. Write its type: \`${source.code.slice(param.left.start, param.left.end)}: … = ${source.code.slice(param.right.start, param.right.end)}\`.`,
        param,
      );
    }
  }
}

/** Returns the function that is passed to `server()` or `query()`: inline, or declared in this module. */
function findFunction(
  { name, kind }: Declaration,
  argument: Node,
  scope: Scope,
  source: SourceFile,
): { fn: FunctionNode; typed: boolean } {
  const reject = (problem: string): never => {
    const form = kind === "query" ? "query({ on: … }, (…) => …)" : "server((…) => …)";
    throw new CompileError(`${problem}. Write \`export const ${name} = ${form}\`.`, source, argument);
  };
  const inner = unwrapExpression(argument);
  if (isFunctionNode(inner)) return { fn: inner, typed: false };
  if (inner.type !== "Identifier") {
    return reject(`${kind}() needs a function written in this module, because its parameters are read from the source`);
  }
  const binding = scope.findValue(inner.name);
  if (!binding) return reject(`"${inner.name}" is not declared in this module, so its parameters cannot be read`);
  if (binding.imported) return reject(`"${inner.name}" is imported, so its parameters cannot be read in this module`);
  if (binding.reassigned) return reject(`"${inner.name}" is reassigned, so its parameters are ambiguous`);
  for (const node of binding.declarations) {
    if (isFunctionNode(node)) return { fn: node, typed: false };
    if (binding.kind !== "const" || node.type !== "VariableDeclarator" || !node.init) continue;
    const value = unwrapExpression(node.init);
    const typed = node.id.type === "Identifier" && Boolean(node.id.typeAnnotation);
    if (isFunctionNode(value) && node.id.type === "Identifier") {
      return { fn: value, typed: typed || value !== node.init };
    }
  }
  return reject(`"${inner.name}" is neither a function declaration nor a const function of this module`);
}

/** Finds and reads the modules of a project, for checks that follow imports. */
export interface ModuleResolver {
  /** The project's root, absolute, with forward slashes. */
  readonly root: string;
  /** Resolves a specifier to a module id; `undefined` when there is no such module. */
  readonly resolve: (specifier: string, importer: string) => Promise<string | undefined>;
  /** Reads a module by its id; `undefined` when it is not a script of the project or cannot be read. */
  readonly read: (id: string | undefined) => Promise<ModuleFacts | undefined>;
}

/** The module and the name in it that an export refers to, after re-exports have been followed. */
export interface ResolvedExport {
  readonly facts: ModuleFacts;
  /** The exported name in that module. */
  readonly name: string;
  /** The name inside that module; `undefined` for a default expression. */
  readonly local: string | undefined;
  /** The server function that it is. */
  readonly serverFunction: Signature | undefined;
  /** The view that it is. */
  readonly view: ViewSource | undefined;
}

/**
 * Follows an export through re-exports to the module that declares it.
 *
 * @returns `undefined` when it cannot be resolved, as for an export of an installed package
 */
export async function resolveExport(
  id: string | undefined,
  name: string,
  resolver: ModuleResolver,
  depth = 0,
): Promise<ResolvedExport | undefined> {
  // Two modules that re-export each other would be followed forever.
  if (depth > 16) return undefined;
  const facts = await resolver.read(id);
  if (!facts) return undefined;
  const entry = facts.exports.named.find((exported) => exported.name === name);
  if (entry?.from) {
    const from = await resolver.resolve(entry.from.source, facts.source.file);
    return resolveExport(from, entry.from.name, resolver, depth + 1);
  }
  if (entry) {
    const isNamed = (declared: { readonly name: string }) => declared.name === name;
    return {
      facts,
      name,
      local: entry.local,
      serverFunction: facts.functions.find(isNamed),
      view: facts.views.find(isNamed),
    };
  }
  for (const star of facts.exports.starExports) {
    const from = await resolver.resolve(star.source, facts.source.file);
    const resolved = await resolveExport(from, name, resolver, depth + 1);
    if (resolved) return resolved;
  }
  return undefined;
}

/** Follows an import of a module to the module that declares what it imports, as {@link resolveExport}. */
export async function resolveImported(
  { source, name }: ImportedName,
  importer: Pick<ModuleFacts, "source">,
  resolver: ModuleResolver,
): Promise<ResolvedExport | undefined> {
  return resolveExport(await resolver.resolve(source, importer.source.file), name, resolver);
}

/**
 * Follows an import through re-exports of the project's modules.
 *
 * @param importer the file that contains the import
 * @returns the import that leads out of the project, such as `redirect` of `tsweb`, or the last one that could be followed
 */
export async function originOf(
  imported: ImportedName,
  importer: string,
  resolver: ModuleResolver,
  depth = 0,
): Promise<ImportedName> {
  // Two modules that re-export each other would be followed forever.
  if (imported.source === "tsweb" || depth > 16) return imported;
  const facts = await resolver.read(await resolver.resolve(imported.source, importer));
  if (!facts) return imported;
  const entry = facts.exports.named.find((exported) => exported.name === imported.name);
  if (entry) return entry.from ? originOf(entry.from, facts.source.file, resolver, depth + 1) : imported;
  for (const { source } of facts.exports.starExports) {
    const origin = await originOf({ source, name: imported.name }, facts.source.file, resolver, depth + 1);
    if (origin.source === "tsweb") return origin;
  }
  return imported;
}

/** Returns the value of an export: of a declaration, a variable or `export default`. */
export function exportedValue({ facts, local }: ResolvedExport): Node | undefined {
  const { scopes, program } = facts;
  const [declared] =
    local === undefined
      ? program.body.flatMap((node) => (node.type === "ExportDefaultDeclaration" ? [node.declaration] : []))
      : (scopes.module.findValue(local)?.declarations ?? []);
  return declared && declaredValue(declared);
}

/** Returns where an offset of a module is, as messages name it: `src/pages.server.tsx:12`. */
export function locationIn({ source }: Pick<ModuleFacts, "source">, offset: number, root: string): string {
  return `${relativePath(source.file, root)}:${sourceLocation(source, offset).line}`;
}
