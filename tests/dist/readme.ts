/**
 * The first application, as the README shows it: the tests run exactly what a reader copies.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "#test/copy-example";

/** The README's text. */
export const readme = readFileSync(join(repository, "README.md"), "utf8");

/**
 * Returns the files in a Markdown text, by name: each is a paragraph that begins with the name in bold, followed by a
 * fenced code block.
 *
 * @throws Error when a file appears twice
 */
export function filesInMarkdown(markdown: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [, name = "", text = ""] of markdown.matchAll(/^\*\*([\w./-]+)\*\*[^\n]*\n\n```\w+\n([\s\S]*?)^```$/gm)) {
    if (files.has(name)) throw new Error(`${name} appears twice in the README. Remove one of them.`);
    files.set(name, text);
  }
  return files;
}

/** Returns the files in a Markdown text whose code block begins with a comment that names them: `// chat.tsx: …`. */
export function filesInComments(markdown: string): ReadonlyMap<string, string> {
  const blocks = markdown.matchAll(/^```tsx?\n(\/\/ ([\w.-]+): [\s\S]*?)^```$/gm);
  return new Map([...blocks].map(([, text = "", name = ""]) => [name, text]));
}
