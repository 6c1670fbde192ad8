import { existsSync } from "node:fs";
import { posix } from "node:path";
import { normalizePath, type Plugin } from "vite";
import { namesServerOnlyUrl } from "../../compile/index.ts";
import { relativeFile, STYLE_SHEET } from "../project/index.ts";
import { lineAt, readSourceFiles } from "./module-graph.ts";

const CSS_MODULE = /\.module\.\w+$/;

const EMPTY = "\0tsweb:style-sheet";

/** Added to the URL of a style sheet in an `import()`, in development. `STYLE_SHEET` does not match such a URL. */
const ON_DEMAND = "?on-demand";

/** An `import()` of a literal. */
const DYNAMIC_IMPORT = /\bimport\(\s*(?:\/\*.*?\*\/\s*)?["'`]([^"'`\n]+)["'`]\s*\)/g;

/**
 * Removes imports of style sheets from scripts. Pages link every sheet that their modules import, so that it applies
 * before the first paint, also without scripts. CSS modules stay: views need their class names. A sheet in an `import()` stays
 * too: it applies from when the script imports it.
 */
export function emptyStyleSheets(): Plugin[] {
  const isPlainSheet = (source: string) => STYLE_SHEET.test(source) && !CSS_MODULE.test(source);
  const isBrowser: Plugin["applyToEnvironment"] = (environment) => environment.name === "client";
  return [
    {
      name: "tsweb:style-sheets",
      enforce: "pre",
      applyToEnvironment: isBrowser,
      resolveId(source, importer, { kind }) {
        // A sheet that another sheet imports, and one that is an input of the build, are kept.
        const isScriptImport = importer !== undefined && !STYLE_SHEET.test(importer);
        return isPlainSheet(source) && isScriptImport && kind !== "dynamic-import" ? EMPTY : undefined;
      },
      load: (id) => (id === EMPTY ? "" : undefined),
      hotUpdate({ file, modules }) {
        // A view that imports a CSS module replaces it by itself. The linked sheet accepts no update and would reload
        // the page.
        const scripts = modules.filter(({ url }) => !/[?&]direct\b/.test(url));
        return CSS_MODULE.test(file) && scripts.length > 0 ? scripts : undefined;
      },
    },
    {
      // The development server does not pass the kind of an import to `resolveId`, so that the URL has to tell it.
      name: "tsweb:style-sheets-on-demand",
      enforce: "post", // after `import.meta.glob` was replaced by imports
      apply: "serve",
      applyToEnvironment: isBrowser,
      transform(code) {
        const marked = code.replace(DYNAMIC_IMPORT, (text: string, url: string) =>
          isPlainSheet(url) ? text.replace(url, `${url}${ON_DEMAND}`) : text,
        );
        return marked === code ? null : { code: marked, map: null }; // the lines stay the same
      },
    },
  ];
}

/** A `url(…)` in a style sheet of the project. */
interface FoundUrl {
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
