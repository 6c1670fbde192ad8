import { parseSync } from "vite";
import type { SourceFile } from "./compile-error.ts";
import { languageOf } from "./module-id.ts";

/** The parts of a doc comment that documents show. */
export interface DocComment {
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
