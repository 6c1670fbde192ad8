import { createHash } from "node:crypto";
import MagicString, { type SourceMap } from "magic-string";
import type { PageSource, Parameter, Signature } from "../protocol/index.ts";
import { type DocumentationReader, documentationOf } from "./documentation.ts";
import { emitTemplates } from "./markup-templates.ts";
import {
  type Declaration,
  type ModuleFacts,
  type ModuleResolver,
  readModule,
  relativePath,
  resolveExport,
} from "./modules/index.ts";
import { checkModuleAlone, mayBreakRule } from "./rules/index.ts";
import {
  CompileError,
  childrenOf,
  type FunctionNode,
  type ImportedName,
  isFunctionNode,
  isInNodeModules,
  isScript,
  type Node,
  type SourceFile,
  sourceLocation,
  unwrapExpression,
} from "./syntax/index.ts";
import {
  addParameterShapes,
  type ResultShape,
  readResultShape,
  type TypeDeclaration,
  type TypeLookup,
  type TypeModule,
} from "./types/index.ts";

/** A compiled module. */
export interface Compiled {
  readonly code: string;
  readonly map: SourceMap;
}

/**
 * Returns whether a module may contain a declaration, `state()`, or a mistake of a module without either, without parsing it. Errs
 * towards yes.
 */
export function mayContainDeclarations(code: string): boolean {
  const importsDeclarations = /["']tsweb(?:\/browser)?["']/.test(code);
  return (importsDeclarations && /\b(?:server|query|page|route|view|state)\b/.test(code)) || mayBreakRule(code);
}

/**
 * Compiles a module for the server: each declaration (`server()`, `query()`, `page()`, `route()`, `view()`) gets its metadata
 * as its last argument. Line numbers do not change. Other modules are not read, so the shapes for strict
 * applications come from the types of this module alone.
 *
 * @param options.file the module's file, absolute
 * @param options.root the project's root, absolute; the file names in signatures are relative to it
 * @returns `undefined` for a module without declarations
 * @throws CompileError when the module breaks a rule of the compile step
 */
export function compileServerModule(code: string, options: { file: string; root: string }): Compiled | undefined {
  const file = options.file.replaceAll("\\", "/");
  if (!isScript(file) || !mayContainDeclarations(code)) return undefined;
  const facts = readModule({ file, code }, options.root.replaceAll("\\", "/"));
  checkModuleAlone(facts);
  return emitServerCode(facts, strictSignaturesWithin(facts), options.root);
}

/**
 * Returns the server code of a module; `undefined` for a module in which nothing changes.
 *
 * @param signatures those of its server functions and queries, with the shapes that strict applications check
 * @param options.hasTemplates whether its static markup becomes templates
 * @param options.hasWaits whether it measures what its pages wait for
 */
export function emitServerCode(
  facts: ModuleFacts,
  { functions, queries }: ModuleSignatures,
  root: string,
  { hasTemplates = false, hasWaits = false }: { readonly hasTemplates?: boolean; readonly hasWaits?: boolean } = {},
): Compiled | undefined {
  const text = new MagicString(facts.source.code);
  if (hasTemplates) emitTemplates(text, facts);
  else if (facts.declarations.length === 0) return undefined;
  if (hasWaits) emitWaits(text, facts);
  const metadata = { server: [...functions], query: [...queries], view: [...facts.views] };
  for (const declaration of facts.declarations) {
    const { kind } = declaration;
    const value =
      kind === "page" || kind === "route" ? pageSource(declaration, facts.source, root) : metadata[kind].shift();
    appendArgument(text, declaration, JSON.stringify(value));
  }
  if (!text.hasChanged()) return undefined;
  return {
    code: text.toString(),
    map: text.generateMap({ source: facts.source.file, includeContent: true, hires: "boundary" }),
  };
}

const MAX_ARGUMENTS = { server: 2, query: 2, page: 3, route: 3, view: 1 } as const;

function appendArgument(text: MagicString, { kind, call }: Declaration, literal: string): void {
  const last = call.arguments.at(-1);
  if (!last) return;
  const missing = Math.max(0, MAX_ARGUMENTS[kind] - call.arguments.length);
  text.appendLeft(last.end, `${", undefined".repeat(missing)}, ${literal}`);
}

function pageSource({ nameRange }: Declaration, source: SourceFile, root: string): PageSource {
  return { file: relativePath(source.file, root), line: sourceLocation(source, nameRange.start).line };
}

/** The signatures of a module, with the shapes that strict applications check. */
interface ModuleSignatures {
  /** Those of its server functions, in source order. */
  readonly functions: readonly Signature[];
  /** Those of its queries, in source order. */
  readonly queries: readonly Signature[];
}

/** The signatures of a module, from its types and those of other modules. */
interface StrictSignatures extends ModuleSignatures {
  /** The other files whose types were read. When one of them changes, the signatures must be read again. */
  readonly files: readonly string[];
}

/** Adds shapes to the signatures of a module, from the types of this module alone. */
export function strictSignaturesWithin(facts: ModuleFacts): ModuleSignatures {
  return addShapes(facts, () => undefined);
}

/** The options of {@link strictSignatures}. */
interface SignatureOptions {
  /** Whether signatures have the documentation of their functions. Only the OpenAPI document uses it. */
  readonly documented?: boolean;
  /** Whether signatures have the hash with which the server recognizes calls of other builds. */
  readonly hashed?: boolean;
}

/** Adds shapes to the signatures of a module, from its types and those of the project's other modules. */
export async function strictSignatures(
  facts: ModuleFacts,
  resolver: ModuleResolver,
  { documented = false, hashed = false }: SignatureOptions = {},
): Promise<StrictSignatures> {
  const documentation = documented && facts.functions.length > 0 ? documentationOf(facts) : undefined;
  const declarations = new Map<string, TypeDeclaration | undefined>();
  const files = new Set<string>();
  // Each module is read once: recursive types are recognized by the identity of their nodes.
  const modules = new Map<string, TypeModule>([[facts.source.file, facts]]);
  // Reading types is synchronous and finding modules is not. Each round reads all types and collects the imports
  // that are still unknown. Types of imported modules may need further imports, and so another round.
  for (;;) {
    const missing = new Map<string, readonly [TypeModule, ImportedName]>();
    const lookup: TypeLookup = (from, imported) => {
      const key = `${from.source.file}\n${imported.source}\n${imported.name}`;
      if (!declarations.has(key)) missing.set(key, [from, imported]);
      return declarations.get(key);
    };
    const signatures = addShapes(facts, lookup, { documentation, hashed });
    if (missing.size === 0) return { ...signatures, files: [...files] };
    for (const [key, [from, imported]] of missing) {
      const id = await resolver.resolve(imported.source, from.source.file);
      const declaration =
        id === undefined || isInNodeModules(id) ? undefined : await findTypeDeclaration(id, imported.name, resolver);
      if (!declaration || id === undefined) {
        declarations.set(key, undefined);
        continue;
      }
      const { file } = declaration.module.source;
      const module = modules.get(file) ?? declaration.module;
      modules.set(file, module);
      declarations.set(key, { ...declaration, module });
      files.add(id).add(file);
    }
  }
}

function addShapes(
  { functions, functionNodes, queries, queryNodes, ...module }: ModuleFacts,
  lookup: TypeLookup,
  { documentation, hashed = false }: { documentation?: DocumentationReader | undefined; hashed?: boolean } = {},
): ModuleSignatures {
  const complete = (signature: Signature, fn: FunctionNode | undefined): Signature => {
    const withShapes = fn ? addParameterShapes(signature, fn, module, lookup) : signature;
    const hash = fn && hashed ? signatureHash(withShapes, readResultShape(fn, module, lookup)) : undefined;
    return { ...withShapes, ...(hash === undefined ? {} : { hash }) };
  };
  return {
    functions: functions.map((signature, index) => ({
      ...complete(signature, functionNodes[index]),
      ...(documentation ? { documentation: documentation(index, lookup) } : {}),
    })),
    queries: queries.map((signature, index) => {
      const query = complete(signature, queryNodes[index]);
      rejectFiles(query, queryNodes[index], module.source);
      return query;
    }),
  };
}

/** @throws CompileError for a parameter of a query that takes files, at the parameter */
function rejectFiles({ name, params }: Signature, fn: FunctionNode | undefined, source: SourceFile): void {
  const index = params.findIndex(({ files }) => files);
  const at = fn?.params[index] ?? fn?.params[0];
  if (index < 0 || !at) return;
  throw new CompileError(
    `The query "${name}" has a parameter for files, which no token can contain. Pass the id of a stored file.`,
    source,
    at,
  );
}

/** Returns the declaration of a type that a module exports. */
async function findTypeDeclaration(
  id: string,
  name: string,
  resolver: ModuleResolver,
): Promise<TypeDeclaration | undefined> {
  const resolved = await resolveExport(id, name, resolver);
  return resolved?.local === undefined ? undefined : { module: resolved.facts, local: resolved.local };
}

/**
 * Returns a short hash of what a caller depends on: names, order, resolved types and optionality of the parameters, whether
 * the result is streamed, and the annotated type of the result. The names of types, defaults and comments do not count.
 *
 * The types are those that strict applications check. Of any other type, only its text counts.
 *
 * @param result the type of the result; `undefined` if it is not annotated
 * @returns six characters of base64url: two signatures have the same hash with a probability of 2^-36
 * @see docs/protocol.md 3.9
 */
function signatureHash({ stream, keyed, params, shapes }: Signature, result: ResultShape | undefined): string {
  const text = JSON.stringify(
    [stream, keyed, params.map(parameterFacts), shapes, result?.shape, result?.shapes],
    // Members of object types are pairs, so this is always the name of a type.
    (key, value) => (key === "name" ? undefined : value),
  );
  return createHash("sha256").update(text).digest("base64url").slice(0, 6);
}

function parameterFacts({ name, annotation, ...facts }: Parameter): readonly unknown[] {
  const isResolved = facts.shape !== undefined || facts.files !== undefined || facts.type !== "any";
  return [name, facts, isResolved ? "" : annotation];
}

/** The entry point whose function measures how long a page waits. */
const RUNTIME = "tsweb/jsx-runtime";

/** The length up to which the text of an expression is shown. */
const MAX_TEXT_CHARS = 60;

/**
 * Measures, in development, what the functions of pages wait for: `await figures()` becomes
 * `await waited(figures(), "figures()", 12)`, with the line of the `await`. Positions before an expression change, lines do not. An
 * `await` in an inner function, such as that of a `Later`, belongs to no page.
 *
 * @see src/pages/page-waits.ts
 */
function emitWaits(text: MagicString, { declarations, source }: ModuleFacts): void {
  let name = "_waited";
  while (source.code.includes(name)) name = `_${name}`;
  let isUsed = false;
  const visit = (node: Node) => {
    if (isFunctionNode(node)) return;
    if (node.type === "AwaitExpression") {
      const { start, end } = node.argument;
      const { line } = sourceLocation(source, node.start);
      text.appendLeft(start, `${name}(`);
      text.appendRight(end, `, ${JSON.stringify(shorten(source.code.slice(start, end)))}, ${line})`);
      isUsed = true;
    }
    for (const child of childrenOf(node)) visit(child);
  };
  for (const { kind, call } of declarations) {
    const last = kind === "page" ? call.arguments.at(-1) : undefined;
    const fn = last && last.type !== "SpreadElement" ? unwrapExpression(last) : undefined;
    if (fn && isFunctionNode(fn) && fn.body) visit(fn.body);
  }
  if (isUsed) text.append(`\n;import { waited as ${name} } from ${JSON.stringify(RUNTIME)};\n`);
}

function shorten(code: string): string {
  const line = code.replace(/\s+/g, " ");
  return line.length <= MAX_TEXT_CHARS ? line : `${line.slice(0, MAX_TEXT_CHARS - 1)}…`;
}
