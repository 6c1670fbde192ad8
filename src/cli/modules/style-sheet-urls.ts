import { existsSync } from "node:fs";
import { posix } from "node:path";
import { normalizePath } from "vite";
import { namesServerOnlyUrl } from "../../compile/index.ts";
import { relativeFile } from "../project/index.ts";
import { lineAt, readSourceFiles } from "./source-files.ts";

/** A `url(…)` in a style sheet of the project. */
export interface FoundUrl {
  /** The style sheet, absolute, with forward slashes. */
  readonly file: string;
  /** The style sheet with the line: `src/style.css:3`. */
  readonly location: string;
  readonly url: string;
}

const URL_TOKEN = /\burl\(\s*(?<quote>["']?)(?<url>[^"'()\s\\]+)\k<quote>\s*\)/gi;

/** Returns each `url(…)` in the style sheets below `src/` that `isWanted` accepts. Those in comments are left out. */
export async function findStyleSheetUrls(root: string, isWanted: (url: string) => boolean): Promise<FoundUrl[]> {
  const sheets = await readSourceFiles(root, /\.(?:css|s[ac]ss|less|pcss|postcss)$/i);
  return sheets.flatMap(({ file, text }) => {
    const code = text.replace(/\/\*.*?\*\//gs, (comment) => comment.replace(/[^\n]/g, " "));
    return [...code.matchAll(URL_TOKEN)].flatMap(({ index, groups }) => {
      const url = groups?.url ?? "";
      return isWanted(url) ? [{ file, location: `${relativeFile(root, file)}:${lineAt(code, index)}`, url }] : [];
    });
  });
}

/** Returns what to do about a `url(…)` that leads to no file: what the style sheet probably means, or where to put the file. */
export function styleSheetUrlFix({ file, url }: FoundUrl, folders: { root: string; publicDir: string }): string {
  const root = normalizePath(folders.root);
  const publicDir = folders.publicDir && normalizePath(folders.publicDir);
  const path = url.replace(/[?#].*$/s, "");
  const isOwnFile = (candidate: string) =>
    candidate.startsWith(`${root}/`) &&
    !/\/(?:\.|node_modules\/)/.test(candidate.slice(root.length)) &&
    !namesServerOnlyUrl(candidate.slice(root.length), root) &&
    existsSync(candidate);
  const inProject = [posix.join(posix.dirname(file), path), posix.join(root, path)].find(isOwnFile);
  if (inProject !== undefined && publicDir && inProject.startsWith(`${publicDir}/`))
    return `${relativeFile(root, inProject)} is served at ${inProject.slice(publicDir.length)}: write url("${inProject.slice(publicDir.length)}").`;
  if (inProject !== undefined) {
    const relative = posix.relative(posix.dirname(file), inProject).replace(/^(?!\.)/, "./");
    return `For ${relativeFile(root, inProject)}, write url("${relative}").`;
  }
  const name = posix.basename(path);
  const relativeAdvice = `or write the path of a file beside the style sheet with a dot: url("./${name}").`;
  if (!publicDir) return `Correct the path, ${relativeAdvice}`;
  const target = posix.join(relativeFile(root, publicDir), path);
  return `Correct the path, put the file at ${target}, ${relativeAdvice}`;
}
