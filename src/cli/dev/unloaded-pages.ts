import { posix } from "node:path";
import { normalizePath } from "vite";
import { lineAt, readSourceFiles, withoutComments } from "../modules/index.ts";
import { relativeFile } from "../project/index.ts";
import { foreignPageAdvice } from "./foreign-pages.ts";

/** An exported page or route whose path is written as text, at the start of a line. */
const PAGE =
  /^export (?:const|let|var) \w+ = (?<kind>page|route)\(\s*(?<quote>["'`])(?:[A-Z]+ )?(?<path>\/[^"'`$]*)\k<quote>/gm;

/** The application, and the modules that it has loaded. */
export interface LoadedModules {
  readonly root: string;
  /** The application module. */
  readonly entry: string;
  /** The files of the loaded modules. */
  readonly files: ReadonlySet<string>;
}

/**
 * Returns why a path has no page or route although a module below `src/` declares one: the application does not list the module, or
 * does not even import it, or the module declares it as another framework does. Returns `undefined` if no module certainly
 * declares one.
 *
 * @param path without the base
 */
export async function unloadedPageAdvice(path: string, modules: LoadedModules): Promise<string | undefined> {
  const { root, entry, files } = modules;
  const sources = await readSourceFiles(root);
  for (const { file, text } of sources) {
    const page = pagesIn(text).find((candidate) => matches(candidate.path, path));
    if (!page) continue;
    const where = `${relativeFile(root, file)}:${page.line} declares a ${page.kind} for this address`;
    const application = relativeFile(root, entry);
    if (files.has(file))
      return `${where}, and ${application} does not list its module: add it to \`modules\` of new App.`;
    const name = posix.basename(file).replace(/\..*$/, "").replace(/\W+/g, "_");
    const specifier = posix.relative(posix.dirname(normalizePath(entry)), file).replace(/^(?!\.)/, "./");
    return `${where}, and ${application} does not import its module. Write \`import * as ${name} from "${specifier}"\` there, and add ${name} to \`modules\` of new App.`;
  }
  return foreignPageAdvice(path, sources, root);
}

function pagesIn(text: string): { readonly kind: string; readonly path: string; readonly line: number }[] {
  const code = withoutComments(text);
  return [...code.matchAll(PAGE)].map(({ index, groups: { kind = "", path = "" } = {} }) => ({
    kind,
    path,
    line: lineAt(code, index),
  }));
}

/** Returns whether a path matches the pattern of a page. Errs towards no. */
function matches(pattern: string, path: string): boolean {
  const segments = pattern.split("/").map((segment) => {
    if (segment.startsWith("**")) return ".+";
    return /^[:*]/.test(segment) ? "[^/]+" : segment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${segments.join("/")}/*$`).test(path);
}
