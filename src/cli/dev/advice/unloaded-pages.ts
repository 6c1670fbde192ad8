import { stat } from "node:fs/promises";
import { posix } from "node:path";
import { normalizePath } from "vite";
import { isServerModule, namesServerOnlyUrl } from "../../../compile/index.ts";
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

/** A request that was answered with 404. */
interface MissingRequest {
  readonly pathname: string;
  /** The URL of the page that has sent it; `undefined` if unknown. */
  readonly referer: string | undefined;
}

/** The folders of a project whose files are served, and where. */
interface ServedFolders {
  readonly root: string;
  /** The folder of the files that are served as they are; empty without one. */
  readonly publicDir: string;
  /** The path below which the application is served; empty for the root. */
  readonly base: string;
}

/** An attribute with a URL that is written as text. */
const ATTRIBUTE = /\b(?<attribute>src|href|poster)=\{?\s*(?<quote>["'`])(?<url>[^"'`\s]+)\k<quote>/g;

const ASSET = /\.(?:apng|avif|bmp|gif|ico|jpe?g|png|svg|webp|mp3|mp4|ogg|wav|webm|otf|ttf|woff2?|pdf)$/i;
const SCRIPT = /\.[cm]?[jt]sx?$/i;
const STYLE_SHEET = /\.(?:css|s[ac]ss|less)$/i;

/**
 * Returns how to serve a file of the project to which an attribute in the source refers, and which is not served at the
 * requested path; `undefined` if no attribute certainly does.
 *
 * A request only selects among the URLs in the source. The files that are looked for are those that the source names, inside
 * of the project, so a request cannot find out which other files exist.
 */
export async function unservedFileAdvice(request: MissingRequest, folders: ServedFolders): Promise<string | undefined> {
  if (![ASSET, SCRIPT, STYLE_SHEET].some((pattern) => pattern.test(request.pathname))) return undefined;
  for (const { file, text } of await readSourceFiles(folders.root)) {
    for (const { index, groups } of withoutComments(text).matchAll(ATTRIBUTE)) {
      const { attribute = "", url = "" } = groups ?? {};
      if (!requests(url, request)) continue;
      const target = await findFile(url, posix.dirname(file), folders);
      if (target === undefined) continue;
      const location = `${relativeFile(folders.root, file)}:${lineAt(text, index)}`;
      return `${location} requests ${request.pathname}, where nothing is served. ${fixFor({ target, file, attribute }, folders)}`;
    }
  }
  return undefined;
}

/** Returns whether a URL in the source leads to the requested path, from the page that has sent the request. */
function requests(url: string, { pathname, referer }: MissingRequest): boolean {
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/|#|\?)/i.test(url)) return false;
  const page = url.startsWith("/") ? "http://localhost" : referer;
  return page !== undefined && URL.canParse(url, page) && new URL(url, page).pathname === pathname;
}

/** Returns the file of the project that a URL means: beside the module, from the project's root, or in the public folder. */
async function findFile(url: string, folder: string, folders: ServedFolders): Promise<string | undefined> {
  const path = url.replace(/[?#].*$/s, "");
  const root = normalizePath(folders.root);
  const { publicDir } = folders;
  const candidates = [
    posix.join(folder, path),
    posix.join(root, path),
    ...(publicDir ? [posix.join(normalizePath(publicDir), path)] : []),
  ];
  for (const file of candidates) {
    const relative = posix.relative(root, file);
    if (/^\.\.?(?:\/|$)|(?:^|\/)(?:\.|node_modules\/)/.test(relative)) continue;
    if (namesServerOnlyUrl(`/${relative}`, root)) continue;
    if (await isFile(file)) return file;
  }
  return undefined;
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** A file that is not served where an attribute requests it, and the module with the attribute. */
interface UnservedFile {
  readonly target: string;
  readonly file: string;
  readonly attribute: string;
}

function fixFor({ target, file, attribute }: UnservedFile, { root, publicDir, base }: ServedFolders): string {
  const shown = relativeFile(root, target);
  const inPublic = publicDir ? posix.relative(normalizePath(publicDir), target) : "..";
  if (!inPublic.startsWith(".."))
    return `${shown} is served at ${base}/${inPublic}: write ${attribute}="${base}/${inPublic}".`;
  const specifier = posix.relative(posix.dirname(file), target).replace(/^(?!\.)/, "./");
  const name = posix.basename(target);
  const folder = publicDir ? relativeFile(root, normalizePath(publicDir)) : "public";
  const move = `or move the file to ${folder}/ and write ${attribute}="${base}/${name}"`;
  const problem = `${shown} is served only if a module imports it`;
  if (STYLE_SHEET.test(name)) return `${problem}. Write \`import "${specifier}"\`, and leave out this element.`;
  if (/\.(?:[cm]?ts|[jt]sx)$/i.test(name)) {
    return `${problem}. Browsers load the modules of views: import it in a view with \`import "${specifier}"\`, and leave out this element.`;
  }
  if (SCRIPT.test(name)) return `${problem}. Import it in a view with \`import "${specifier}"\`, ${move}.`;
  const variable = name
    .replace(/\..*$/, "")
    .replace(/[^a-z\d]+(?<next>[a-z\d])?/gi, (_, next = "") => next.toUpperCase());
  const valid = /^[a-z_]/i.test(variable) ? variable : "file";
  return `${problem}. Write \`import ${valid} from "${specifier}"\` and \`${attribute}={${valid}}\`, ${move}.`;
}
