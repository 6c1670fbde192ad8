import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { relativeFile } from "./project.ts";

const PAGE = '`export const home = page("/", () => <main>…</main>)` in a module that `modules` of new App lists';

/** The script of an application whose document Vite serves: `<script type="module" src="/src/main.tsx">`. */
const SCRIPT = /<script\b[^>]*\bsrc\s*=\s*["']?\.?\/?(?<path>[^"'>\s:]+\.[cm]?[jt]sx?)\b[^>]*>/gi;

/**
 * Returns a note about each HTML file of a project that looks like its start page and is none: `index.html` in the folder of
 * public files, which is served at `/index.html` only, and one beside package.json that loads a script of the project, as Vite
 * has it, which is not used at all.
 *
 * @param publicDir the folder of public files; empty without one
 */
export function htmlFileNotes(root: string, publicDir: string): string[] {
  const notes: string[] = [];
  const document = join(root, "index.html");
  const script = existsSync(document) ? projectScript(readFileSync(document, "utf8"), root) : undefined;
  if (script !== undefined) {
    notes.push(
      `index.html:${script.line} loads ${script.path}, as an application of Vite does. tsweb does not use this file. Write the ` +
        `markup of the page as ${PAGE}, what all pages share as the \`layout\` of new App, and import scripts in a view.`,
    );
  }
  const file = publicDir === "" ? "" : join(publicDir, "index.html");
  if (file !== "" && existsSync(file)) {
    notes.push(
      `${relativeFile(root, file)} is served at /index.html, and is not the page "/". Write its markup as ${PAGE}, and delete ` +
        "the file.",
    );
  }
  return notes;
}

/** Returns the first script of the project that a document loads, with its line. */
function projectScript(html: string, root: string): { readonly path: string; readonly line: number } | undefined {
  const text = html.replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, " "));
  for (const { index, groups } of text.matchAll(SCRIPT)) {
    const path = groups?.path ?? "";
    if (!path.startsWith(".") && existsSync(join(root, path)))
      return { path: `/${path}`, line: text.slice(0, index).split("\n").length };
  }
  return undefined;
}

/**
 * Returns the line which says that a command does not check types. `undefined` if the project has no types to check, or
 * the script that runs the command has checked them, such as `"build": "tsc && tsweb build"`.
 *
 * @param env the environment variables; package managers store the script in one of them
 */
export function typesNotice(root: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!existsSync(join(root, "tsconfig.json"))) return undefined;
  if (/\b(?:tsc|tsgo)\b/.test(env.npm_lifecycle_script ?? "")) return undefined;
  return "Types are not checked. Check them with: npx tsc --noEmit";
}
