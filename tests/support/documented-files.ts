import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./copy-example.ts";

/** Returns the files of a document: each code block that begins with a comment with the file's path. */
export function documentedFiles(document: string): Record<string, string> {
  const text = readFileSync(join(repository, document), "utf8");
  const blocks = [...text.matchAll(/^```tsx?\n\/\/ ((?:src|tests|scripts)\/[\w./-]+)\n([\s\S]*?)^```$/gm)];
  return Object.fromEntries(blocks.map(([, name = "", code = ""]) => [name, code]));
}
