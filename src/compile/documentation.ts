import { parseSync } from "vite";
import type { FunctionDocumentation, Signature } from "../protocol/index.ts";
import type { Declaration, ModuleFacts } from "./modules/index.ts";
import { type FunctionNode, keyName, languageOf, type Node, type SourceFile } from "./syntax/index.ts";
import { readResultShape, type TypeLookup } from "./types/index.ts";

/** Returns the documentation of a module's server functions, by their index, from types that `lookup` finds. */
export type DocumentationReader = (index: number, lookup: TypeLookup) => FunctionDocumentation;

/** Creates the reader of a module's documentation. The doc comments are read once, and types for each lookup. */
export function documentationOf(facts: ModuleFacts): DocumentationReader {
  const declarations = facts.declarations.filter(({ kind }) => kind === "server");
  const findComment = docCommentsOf(facts.source);
  const comments = facts.functions.map((_, index) => {
    const declaration = declarations[index];
    const fn = facts.functionNodes[index];
    return declaration && fn && commentOf(declaration, fn, facts.program.body, findComment);
  });
  return (index, lookup) => {
    const signature = facts.functions[index];
    const fn = facts.functionNodes[index];
    const result = fn && readResultShape(fn, facts, lookup);
    return {
      ...(signature && fromComment(comments[index], signature)),
      ...(fn && defaultsOf(fn, facts.source.code)),
      ...(result ? { result: result.shape } : {}),
      ...(result && result.shapes.length > 0 ? { resultShapes: result.shapes } : {}),
    };
  };
}

/** Returns the comment of the exported const, or else that of the function if it is declared elsewhere in the module. */
function commentOf(
  { call }: Declaration,
  fn: FunctionNode,
  statements: readonly Node[],
  findComment: (start: number) => DocComment | undefined,
): DocComment | undefined {
  for (const node of [call, fn]) {
    const statement = statements.find(({ start, end }) => start <= node.start && node.end <= end);
    const start = statement && documentedStart(statement, node);
    const comment = start === undefined ? undefined : findComment(start);
    if (comment) return comment;
  }
  return undefined;
}

/** Returns where the comment of a node in this statement ends: before the statement, or before a further `, b = …`. */
function documentedStart(statement: Node, node: Node): number {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (declaration?.type !== "VariableDeclaration") return statement.start;
  const declarator = declaration.declarations.find(({ start, end }) => start <= node.start && node.end <= end);
  return declarator && declarator !== declaration.declarations[0] ? declarator.start : statement.start;
}

function fromComment(comment: DocComment | undefined, signature: Signature): FunctionDocumentation {
  if (!comment) return {};
  const { params, ...texts } = comment;
  const named = signature.params.flatMap(({ name }): [string, string][] => {
    const text = params.get(name) ?? (signature.keyed ? keyText(params, name) : undefined);
    return text === undefined ? [] : [[name, text]];
  });
  return { ...texts, ...(named.length > 0 ? { params: Object.fromEntries(named) } : {}) };
}

/** Returns the source texts of the defaults of parameters, or of the keys of a destructured object. */
function defaultsOf({ params }: FunctionNode, code: string): Pick<FunctionDocumentation, "defaults"> {
  const defaults = params.flatMap((param): [string, string][] => {
    const pattern = param.type === "AssignmentPattern" ? param.left : param;
    if (pattern.type === "ObjectPattern") {
      return pattern.properties.flatMap((property) =>
        property.type === "Property" ? defaultOf(keyName(property), property.value, code) : [],
      );
    }
    return pattern.type === "Identifier" ? defaultOf(pattern.name, param, code) : [];
  });
  return defaults.length > 0 ? { defaults: Object.fromEntries(defaults) } : {};
}

function defaultOf(name: string | undefined, node: Node, code: string): [string, string][] {
  if (name === undefined || node.type !== "AssignmentPattern") return [];
  return [[name, code.slice(node.right.start, node.right.end)]];
}

/** Returns the text of `@param options.name`: the destructured object has no name of its own. */
function keyText(params: ReadonlyMap<string, string>, key: string): string | undefined {
  return [...params].find(([name]) => name.slice(name.indexOf(".") + 1) === key)?.[1];
}

/** The parts of a doc comment that documents show. */
interface DocComment {
  /** The first sentence. */
  readonly summary?: string;
  /** The text before the first tag. */
  readonly description?: string;
  /** The text of `@deprecated`, possibly empty. */
  readonly deprecated?: string;
  /** The texts of `@param`, by name. */
  readonly params: ReadonlyMap<string, string>;
  /** The text of `@returns`. */
  readonly returns?: string;
}

/**
 * Returns a function that returns the doc comment in front of a node: the last one between the preceding code and the
 * position `start`. The comments are read once.
 */
export function docCommentsOf(source: SourceFile): (start: number) => DocComment | undefined {
  const lang = languageOf(source.file) ?? "tsx";
  const { comments } = parseSync(source.file, source.code, { lang, sourceType: "module" });
  const byEnd = new Map(comments.map((comment) => [comment.end, comment]));
  return (start) => {
    const comment = docCommentBefore(source.code, byEnd, start);
    return comment && parseDocComment(comment.value);
  };
}

type Comment = ReturnType<typeof parseSync>["comments"][number];

function docCommentBefore(code: string, byEnd: ReadonlyMap<number, Comment>, start: number): Comment | undefined {
  let end = code.slice(0, start).trimEnd().length;
  while (end > 0) {
    // A line comment ends at its line break, and `trimEnd` may have removed spaces at the end of its text.
    const comment = byEnd.get(end) ?? byEnd.get(lineEnd(code, end));
    if (!comment || comment.start >= end) return undefined;
    if (comment.type === "Block" && comment.value.startsWith("*")) return comment;
    end = code.slice(0, comment.start).trimEnd().length;
  }
  return undefined;
}

function lineEnd(code: string, position: number): number {
  const end = code.slice(position).search(/[\r\n\u2028\u2029]/);
  return end < 0 ? code.length : position + end;
}

/**
 * Parses the text of a doc comment as TypeScript does: the description, and block tags at the start of a line. Tags in
 * code blocks are text. Tags without a use here are left out.
 *
 * @param value the text between the comment's delimiters
 */
export function parseDocComment(value: string): DocComment {
  const params = new Map<string, string>();
  const texts: { description?: string; deprecated?: string; returns?: string } = {};
  for (const { tag, text } of readBlocks(value)) {
    switch (tag) {
      case "":
        if (text !== "") texts.description = text;
        break;
      case "deprecated":
        texts.deprecated = text;
        break;
      case "return":
      case "returns": {
        const returns = text.replace(/^\{[^}]*\}\s*/, "").replace(/^-\s+/, "");
        if (returns !== "") texts.returns = returns;
        break;
      }
      case "arg":
      case "argument":
      case "param": {
        const param = /^(?:\{[^}]*\}\s*)?(?:\[([^\s=\]]+)[^\]]*\]|(\S+))(?:\s+(?:-\s+)?([\s\S]+))?$/.exec(text);
        const name = param?.[1] ?? param?.[2];
        if (name !== undefined && param?.[3]) params.set(name, param[3]);
        break;
      }
    }
  }
  const summary = texts.description && firstSentence(texts.description);
  return { ...texts, ...(summary ? { summary } : {}), params };
}

/** Returns the description, whose tag is empty, and the tags with their texts. */
function readBlocks(value: string): { readonly tag: string; readonly text: string }[] {
  const blocks: { tag: string; lines: string[] }[] = [{ tag: "", lines: [] }];
  let isCode = false;
  const lines = value.slice(1).split(/\r\n|[\n\r\u2028\u2029]/);
  for (const [index, line] of lines.entries()) {
    const text = index === 0 ? line.trimStart() : line.replace(/^\s*(?:\* ?)?/, "");
    if (/^\s*(?:```|~~~)/.test(text)) isCode = !isCode;
    const tag = isCode ? null : /^\s*@([a-zA-Z]+)(?:\s+(.*))?$/.exec(text);
    if (tag?.[1]) blocks.push({ tag: tag[1], lines: [tag[2] ?? ""] });
    else blocks.at(-1)?.lines.push(text);
  }
  return blocks.map((block) => ({ tag: block.tag, text: withoutLinks(block.lines.join("\n").trim()) }));
}

/** Replaces `{@link target}` and `{@link target | text}` with the text, or else the target. */
function withoutLinks(text: string): string {
  return text.replace(
    /\{@link(?:code|plain)?\s+([^\s|}]+)\s*\|?\s*([^}]*)\}/g,
    (_, target: string, label: string) => label.trim() || `\`${target}\``,
  );
}

/** Returns the first sentence in one line and without its period. A period within it, as in "e.g. this", does not end it. */
function firstSentence(description: string): string {
  const [paragraph = ""] = description.split(/\n\s*\n/, 1);
  const line = paragraph.replace(/\s+/g, " ").trim();
  const sentence = /^.*?[.!?](?=\s+[\p{Lu}\p{Lo}`"'([]|$)/u.exec(line)?.[0] ?? line;
  return sentence.replace(/\.$/, "");
}
