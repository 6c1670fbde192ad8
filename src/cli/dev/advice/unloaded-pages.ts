import { posix } from "node:path";
import { normalizePath } from "vite";
import { isServerModule } from "../../../compile/index.ts";
import { lineAt, readSourceFiles, type SourceText, withoutComments } from "../../modules/index.ts";
import { relativeFile } from "../../project/index.ts";

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

/** A component or a handler that other frameworks would serve at the path of its file. */
const DEFAULT_EXPORT =
  /^export default (?:async )?(?:function\b\*?\s*(?<name>\w*)|(?:async )?\(|class\s+(?<className>\w+))/m;
const HANDLER = /^export (?:(?:async )?function|const|let) (?<name>GET|loader)\b(?! = (?:route|server|page)\()/m;

/**
 * Returns what to write in place of a page or a route of another framework for a path: in a module whose file has the path, as
 * `src/app/about/page.tsx`, `src/pages/about.tsx` and `src/about.tsx` have `/about`; or a component with its name. Returns
 * `undefined` if there certainly is none.
 *
 * @param path without the base
 */
export function foreignPageAdvice(path: string, sources: readonly SourceText[], root: string): string | undefined {
  const wanted = path.replace(/\/+$/, "") || "/";
  for (const { file, text } of sources) {
    const code = withoutComments(text);
    const isPath = pathOfFile(posix.relative(posix.join(root, "src"), file)) === wanted;
    const handler = isPath ? HANDLER.exec(code) : null;
    const component = DEFAULT_EXPORT.exec(code);
    const componentName = component?.groups?.name || component?.groups?.className;
    const isNamed = componentName !== undefined && isNameOf(componentName, wanted);
    const found = handler ?? (component && (isPath || isNamed) && isScriptWithMarkup(file) ? component : undefined);
    if (!found) continue;
    const location = `${relativeFile(root, file)}:${lineAt(code, found.index)}`;
    const where = isServerModule(file, root)
      ? "there"
      : "in a module whose name ends with .server.tsx and which `modules` of new App lists";
    const name = exportName(wanted);
    if (found === handler) {
      const handlerName = handler.groups?.name;
      const call =
        handlerName === "GET" ? `route("GET ${wanted}", async (request) => …)` : `page("${wanted}", async () => …)`;
      const loads = handlerName === "loader" ? " The function of a page loads its data." : "";
      return `${location} exports ${handlerName}, which tsweb does not call.${loads} Write \`export const ${name} = ${call}\` ${where}.`;
    }
    const element = componentName ? `<${componentName} />` : "…";
    return `${location} exports a component by default, which declares no page. Write \`export const ${name} = page("${wanted}", () => ${element})\` ${where}.`;
  }
  return undefined;
}

function isScriptWithMarkup(file: string): boolean {
  return /\.[jt]sx$/.test(file);
}

/** Returns the path that frameworks with routing by files give to a file; `undefined` for one with parameters. */
function pathOfFile(file: string): string | undefined {
  const segments = file
    .replace(/(?:\.server)?\.[jt]sx?$/, "")
    .replace(/^(?:app|pages|routes)\//, "")
    .split("/")
    .filter((segment) => !/^\(.*\)$/.test(segment));
  if (segments.some((segment) => /[[\]$@]/.test(segment))) return undefined;
  if (["page", "route", "index", "_index", "+page", "+server"].includes(segments.at(-1) ?? "")) segments.pop();
  return `/${segments.join("/")}`;
}

/** Returns whether a component has the name of a path: `AboutUs` and `AboutUsPage` have that of `/about-us`. */
function isNameOf(component: string, path: string): boolean {
  const name = path.slice(1).replace(/[-_]/g, "").toLowerCase();
  return name !== "" && [name, `${name}page`].includes(component.toLowerCase());
}

/** Returns a name for the page or route at a path. */
export function exportName(path: string): string {
  const words = path.split(/[^\w]+/).filter(Boolean);
  const name = words.join("_").toLowerCase();
  return name === "" ? "home" : name.replace(/^(?=\d)/, "page_");
}
