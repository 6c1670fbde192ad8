import { stat } from "node:fs/promises";
import { posix } from "node:path";
import { normalizePath } from "vite";
import { namesServerOnlyUrl } from "../../../compile/index.ts";
import { lineAt, readSourceFiles, withoutComments } from "../../modules/index.ts";
import { relativeFile } from "../../project/index.ts";

/** A request that was answered with 404. */
export interface MissingRequest {
  readonly pathname: string;
  /** The URL of the page that has sent it; `undefined` if unknown. */
  readonly referer: string | undefined;
}

/** The folders of a project whose files are served, and where. */
export interface ServedFolders {
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
