import MagicString, { type SourceMap } from "magic-string";
import type { PageSource, Signature } from "../protocol/index.ts";
import { emitTemplates } from "./markup-templates.ts";
import { type Declaration, type ModuleFacts, readModule, relativePath } from "./modules/index.ts";
import { checkModuleAlone, mayBreakRule } from "./rules/index.ts";
import { strictSignaturesWithin } from "./strict-signatures.ts";
import { isScript, type SourceFile, sourceLocation } from "./syntax/index.ts";

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
  return (importsDeclarations && /\b(?:server|page|route|view|state)\b/.test(code)) || mayBreakRule(code);
}

/**
 * Compiles a module for the server: each declaration (`server()`, `page()`, `route()`, `view()`) gets its metadata
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
 * @param functions the signatures of its server functions, with the shapes that strict applications check
 * @param options.hasTemplates whether its static markup becomes templates
 */
export function emitServerCode(
  facts: ModuleFacts,
  functions: readonly Signature[],
  root: string,
  { hasTemplates = false }: { readonly hasTemplates?: boolean } = {},
): Compiled | undefined {
  const text = new MagicString(facts.source.code);
  if (hasTemplates) emitTemplates(text, facts);
  else if (facts.declarations.length === 0) return undefined;
  const signatures = [...functions];
  const views = [...facts.views];
  for (const declaration of facts.declarations) {
    const metadata =
      declaration.kind === "server"
        ? signatures.shift()
        : declaration.kind === "view"
          ? views.shift()
          : pageSource(declaration, facts.source, root);
    appendArgument(text, declaration, JSON.stringify(metadata));
  }
  if (!text.hasChanged()) return undefined;
  return {
    code: text.toString(),
    map: text.generateMap({ source: facts.source.file, includeContent: true, hires: "boundary" }),
  };
}

const MAX_ARGUMENTS = { server: 2, page: 3, route: 3, view: 1 } as const;

function appendArgument(text: MagicString, { kind, call }: Declaration, literal: string): void {
  const last = call.arguments.at(-1);
  if (!last) return;
  const missing = MAX_ARGUMENTS[kind] - call.arguments.length;
  text.appendLeft(last.end, `${", undefined".repeat(missing)}, ${literal}`);
}

function pageSource({ nameRange }: Declaration, source: SourceFile, root: string): PageSource {
  return { file: relativePath(source.file, root), line: sourceLocation(source, nameRange.start).line };
}
