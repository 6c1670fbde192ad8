/**
 * The first application, as the README shows it: what a newcomer types in is what the tests run.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "#test/copy-example";

/** The README's text. */
export const readme = readFileSync(join(repository, "README.md"), "utf8");

/**
 * Gives the files that a text shows, by their names: a paragraph that begins with the name in bold,
 * then the file in a fenced block.
 *
 * @throws Error when one file is shown twice
 */
export function filesShown(markdown: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [, name = "", text = ""] of markdown.matchAll(/^\*\*([\w./-]+)\*\*[^\n]*\n\n```\w+\n([\s\S]*?)^```$/gm)) {
    if (files.has(name)) throw new Error(`${name} is shown twice.`);
    files.set(name, text);
  }
  return files;
}
