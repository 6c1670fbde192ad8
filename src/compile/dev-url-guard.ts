import { posix } from "node:path";
import { normalizePath, type ViteDevServer } from "vite";
import { hasUnsupportedQuery } from "./browser-imports.ts";
import { isServerOnly, realPath, ServerOnlyError } from "./modules/index.ts";
import { serverModuleOfStub } from "./stubs.ts";
import { stripQuery } from "./syntax/index.ts";

/** The URL prefix of virtual modules: `/@id/`, and `__x00__` for the NUL that their ids start with. */
const VIRTUAL_URL = /^\/@id\/__x00__/;

/**
 * Responds with 404 to every URL that resolves to a server-only file (`server-only.ts`), before Vite handles it.
 * Otherwise the development server would send the file's text, as a module, a raw file or a source map.
 */
export function guardServerOnlyUrls(server: ViteDevServer, root: string): void {
  server.middlewares.use((request, response, next) => {
    isServerOnlyUrl(request.url ?? "/", server, root).then(
      (forbidden) => {
        if (!forbidden) return next();
        response.statusCode = 404;
        response.setHeader("content-type", "text/plain; charset=utf-8");
        response.end("Not found");
      },
      (error: unknown) => next(error),
    );
  });
}

async function isServerOnlyUrl(url: string, server: ViteDevServer, root: string): Promise<boolean> {
  const below = stripBase(url, server.config.base);
  if (namesServerOnlyUrl(below, root)) return true;
  const path = stripQuery(below);
  if (stubsOfUrl(path, root) !== undefined) return false;
  const folders = [root, normalizePath(server.config.publicDir)].filter((folder) => folder !== "");
  return linksToServerOnly(path, { root, folders }) || resolvesToServerOnly(path, server, root);
}

/** Returns the server module whose stubs have the URL; `undefined` for any other URL. */
function stubsOfUrl(path: string, root: string): string | undefined {
  return VIRTUAL_URL.test(path) ? serverModuleOfStub(path.replace(VIRTUAL_URL, "\0"), root) : undefined;
}

/** Returns whether a path is that of a link whose target is server-only. Vite sends such a file by the link's name. */
function linksToServerOnly(path: string, { root, folders }: { root: string; folders: readonly string[] }): boolean {
  return decodedForms(path).some((form) => {
    if (form.includes("\0")) return false; // no file has such a name
    const { file, isAbsolute } = fileOfUrl(form);
    const files = isAbsolute ? [file] : folders.map((folder) => posix.join(folder, file));
    return files.some((name) => isServerOnly(escapeQuery(realPath(name)), root));
  });
}

/** Returns whether Vite resolves a path to a server-only file: without an extension, or through an alias. */
async function resolvesToServerOnly(path: string, server: ViteDevServer, root: string): Promise<boolean> {
  const { client } = server.environments;
  if (!client || path === "/" || path.startsWith("/@vite/") || VIRTUAL_URL.test(path)) return false;
  const id =
    decodedForms(path)
      .at(-1)
      ?.replace(/^\/@id\//, "") ?? path;
  if (await client.moduleGraph.getModuleByUrl(id)) return false;
  try {
    const resolved = await client.pluginContainer.resolveId(id);
    if (!resolved) return false;
    return serverModuleOfStub(resolved.id, root) !== undefined || isServerOnly(resolved.id, root);
  } catch (error) {
    return error instanceof ServerOnlyError; // Vite responds to this request with any other error
  }
}

/**
 * Returns whether a URL of the development server names a server-only file in any notation: percent-encoded once or
 * several times, with `..`, backslashes or a NUL, with a suffix that Windows ignores (`.`, a space, `::$DATA`), or as its
 * source map. The URL of a server module's stubs names no such file, unless its query requests another form of the module.
 *
 * @param root the project's root. The names of folders above it do not count.
 */
export function namesServerOnlyUrl(url: string, root: string): boolean {
  const path = stripQuery(url);
  if (stubsOfUrl(path, root) !== undefined) return hasUnsupportedQuery(url);
  return decodedForms(path).some((form) => {
    const text = form.replaceAll("\\", "/").replaceAll("\0", "");
    // Decoded, a `?` or `#` can be part of a name, or begin a query that a second decoder removes.
    return [text, stripQuery(text)].some((variant) => {
      const { file, isAbsolute } = fileOfUrl(posix.normalize(variant));
      return isServerOnly(escapeQuery(isAbsolute ? file : `.${file}`), root);
    });
  });
}

/** Returns the path in a URL of Vite: a path of the file system below `/@fs/` and `/@id/`, otherwise one below the root. */
function fileOfUrl(path: string): { file: string; isAbsolute: boolean } {
  const rest = path.replace(/^\/+@(?:fs|id)\/+(?:__x00__)?/, "");
  const hasDrive = /^[a-z]:/i.test(rest);
  return { file: hasDrive ? posix.normalize(rest) : posix.join("/", rest), isAbsolute: rest !== path };
}

/** Keeps `?` and `#` in a path from being read as the start of a query. */
function escapeQuery(path: string): string {
  return path.replace(/[?#]/g, "_");
}

/** Returns a path and its decoded forms, until decoding no longer changes it. */
function decodedForms(path: string): string[] {
  const forms = [path];
  for (let round = 0; round < 8; round++) {
    const last = forms.at(-1) ?? path;
    const next = decodeValidEscapes(last);
    if (next === last) break;
    forms.push(next);
  }
  return forms;
}

/** Decodes the valid escapes of a text and keeps the others, so that one invalid `%` does not hide the rest. */
function decodeValidEscapes(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      // Not UTF-8: decode the ASCII bytes, because the suffix of a server-only file is ASCII.
      return part.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    }
  });
}

function stripBase(path: string, base: string): string {
  return base !== "/" && path.startsWith(base) ? path.slice(base.length - 1) : path;
}
