import { posix } from "node:path";
import type { ViteDevServer } from "vite";
import { hasForeignQuery } from "./browser-side.ts";
import { fileOf, isServerModule } from "./parse.ts";
import { stubbedFile } from "./stubs.ts";

/** The address of what is no file: `/@id/` and, for a NUL, `__x00__`. */
const VIRTUAL = /^\/@id\/__x00__/;

/**
 * Makes every address that resolves to a server module answer 404, before Vite sees it: its text must
 * not leave by any of the ways in which a development server gives out files.
 */
export function guardAddresses(server: ViteDevServer, root: string): void {
  server.middlewares.use((request, response, next) => {
    isForbidden(request.url ?? "/", server, root).then(
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

async function isForbidden(url: string, server: ViteDevServer, root: string): Promise<boolean> {
  const path = withoutBase(fileOf(url), server.config.base);
  const stubs = VIRTUAL.test(path) ? stubbedFile(path.replace(VIRTUAL, "\0"), root) : undefined;
  if (stubs !== undefined) return hasForeignQuery(url);
  if (namesServerModule(path)) return true;
  return resolvesToServerModule(path, server, root);
}

/** An extension-less address, an alias or a link may lead to a server module too: Vite's own resolving tells. */
async function resolvesToServerModule(path: string, server: ViteDevServer, root: string): Promise<boolean> {
  const { client } = server.environments;
  if (!client || path === "/" || path.startsWith("/@vite/") || VIRTUAL.test(path)) return false;
  const id =
    decoded(path)
      .at(-1)
      ?.replace(/^\/@id\//, "") ?? path;
  if (await client.moduleGraph.getModuleByUrl(id)) return false;
  const resolved = await client.pluginContainer.resolveId(id).catch(() => null); // refused: Vite's answer says why
  return resolved !== null && (stubbedFile(resolved.id, root) !== undefined || isServerModule(fileOf(resolved.id)));
}

/**
 * Answers whether an address names a server module's file, however it is written: encoded once or more
 * often, with `..`, backslashes, a NUL, what some file systems drop from the end of a name, or as its map.
 */
export function namesServerModule(path: string): boolean {
  return decoded(path).some((form) => {
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

/** Gives a path and what it is after each round of decoding, until it does not change. */
function decoded(path: string): string[] {
  const forms = [path];
  for (let round = 0; round < 8; round++) {
    const last = forms.at(-1) ?? path;
    const next = decodeLeniently(last);
    if (next === last) break;
    forms.push(next);
  }
  return forms;
}

/** Decodes what is well formed and leaves the rest, so that one stray `%` hides nothing. */
function decodeLeniently(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      // Not UTF-8: byte by byte then; a server module's own letters are ASCII.
      return part.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    }
  });
}

function withoutBase(path: string, base: string): string {
  return base !== "/" && path.startsWith(base) ? path.slice(base.length - 1) : path;
}
