import MagicString, { type SourceMap } from "magic-string";
import type { PageSource, Signature } from "../protocol/index.ts";
import { placeOf, type Source } from "./errors.ts";
import type { Mark } from "./marks.ts";
import { type ModuleFacts, readModule, relativeFile } from "./module.ts";
import { isScript } from "./parse.ts";
import { shapesWithin } from "./shapes/index.ts";

/** What a module becomes. */
export interface Compiled {
  readonly code: string;
  readonly map: SourceMap;
}

/** Answers whether a module can hold a mark, or `state()`, without parsing it: one imports the door it comes from. */
export function mayHoldMarks(code: string): boolean {
  return /["']tsweb(?:\/browser)?["']/.test(code) && /\b(?:server|page|route|view|state)\b/.test(code);
}

/**
 * Compiles a module for the server: every marked call gets what was read of it as its last argument.
 * The text is otherwise as it was, so every line stays where it is. Other modules are not read: what
 * strict applications check is told by the types of this one.
 *
 * @param options.file the module's file, absolute
 * @param options.root the project's root, absolute: signatures name files relative to it
 * @returns `undefined` for a module that marks nothing
 * @throws CompileError for anything that tsweb refuses
 */
export function compileServerModule(code: string, options: { file: string; root: string }): Compiled | undefined {
  const file = options.file.replaceAll("\\", "/");
  if (!isScript(file) || !mayHoldMarks(code)) return undefined;
  const facts = readModule({ file, code }, options.root.replaceAll("\\", "/"));
  return emitServerSide(facts, shapesWithin(facts), options.root);
}

/**
 * Writes the server's side of a module that was read; `undefined` when it marks nothing.
 *
 * @param functions its server functions, with what strict applications check of them
 */
export function emitServerSide(
  facts: ModuleFacts,
  functions: readonly Signature[],
  root: string,
): Compiled | undefined {
  if (facts.marks.length === 0) return undefined;
  const text = new MagicString(facts.source.code);
  const signatures = [...functions];
  const views = [...facts.views];
  for (const mark of facts.marks) {
    const about =
      mark.kind === "server"
        ? signatures.shift()
        : mark.kind === "view"
          ? views.shift()
          : pageSource(mark, facts.source, root);
    append(text, mark, JSON.stringify(about));
  }
  return {
    code: text.toString(),
    map: text.generateMap({ source: facts.source.file, includeContent: true, hires: "boundary" }),
  };
}

const OPTIONAL_ARGUMENTS = { server: 2, page: 3, route: 3, view: 1 } as const;

function append(text: MagicString, { kind, call }: Mark, literal: string): void {
  const last = call.arguments.at(-1);
  if (!last) return;
  const missing = OPTIONAL_ARGUMENTS[kind] - call.arguments.length;
  text.appendLeft(last.end, `${", undefined".repeat(missing)}, ${literal}`);
}

function pageSource(mark: Mark, source: Source, root: string): PageSource {
  return { file: relativeFile(source.file, root), line: placeOf(source, mark.at.start).line };
}
