import { posix } from "node:path";
import type { ViteDevServer } from "vite";
import { hasUnsupportedQuery } from "./browser-imports.ts";
import { serverModuleOfStub } from "./stubs.ts";
import { isServerModule, stripQuery } from "./syntax/index.ts";

/** The URL prefix of virtual modules: `/@id/`, and `__x00__` for the NUL that their ids start with. */
const VIRTUAL_URL = /^\/@id\/__x00__/;

/**
 * Responds with 404 to every URL that resolves to a server module, before Vite handles it. Otherwise the development
 * server would send the module's text, as a module, a raw file or a source map.
 */
export function guardServerModuleUrls(server: ViteDevServer, root: string): void {
  server.middlewares.use((request, response, next) => {
    isServerModuleUrl(request.url ?? "/", server, root).then(
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

async function isServerModuleUrl(url: string, server: ViteDevServer, root: string): Promise<boolean> {
  const path = stripBase(stripQuery(url), server.config.base);
  const stubs = VIRTUAL_URL.test(path) ? serverModuleOfStub(path.replace(VIRTUAL_URL, "\0"), root) : undefined;
  if (stubs !== undefined) return hasUnsupportedQuery(url);
  if (namesServerModule(path)) return true;
  return resolvesToServerModule(path, server, root);
}

/** Returns whether Vite resolves a path to a server module: without an extension, through an alias or a symbolic link. */
async function resolvesToServerModule(path: string, server: ViteDevServer, root: string): Promise<boolean> {
  const { client } = server.environments;
  if (!client || path === "/" || path.startsWith("/@vite/") || VIRTUAL_URL.test(path)) return false;
  const id =
    decodedForms(path)
      .at(-1)
      ?.replace(/^\/@id\//, "") ?? path;
  if (await client.moduleGraph.getModuleByUrl(id)) return false;
  const resolved = await client.pluginContainer.resolveId(id).catch(() => null); // Vite responds to this request with the error
  return (
    resolved !== null &&
    (serverModuleOfStub(resolved.id, root) !== undefined || isServerModule(stripQuery(resolved.id)))
  );
}

/**
 * Returns whether a path names a server module's file in any notation: percent-encoded once or several times, with
 * `..`, backslashes or a NUL, with a suffix that Windows ignores (`.`, a space, `::$DATA`), or as its source map.
 */
export function namesServerModule(path: string): boolean {
  return decodedForms(path).some((form) => {
    const path = posix.normalize(
      form
        .replaceAll("\\", "/")
        .replaceAll("\0", "")
        .replace(/[?#].*$/s, ""),
    );
    return path.split("/").some((_, end, parts) => {
      const upTo = parts.slice(0, end + 1).join("/");
      return isServerModule(upTo.replace(/(?:::\$data|\.map|[. ])+$/i, ""));
    });
  });
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
      // Not UTF-8: decode the ASCII bytes, because the suffix of a server module is ASCII.
      return part.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    }
  });
}

function stripBase(path: string, base: string): string {
  return base !== "/" && path.startsWith(base) ? path.slice(base.length - 1) : path;
}
