import { fileURLToPath } from "node:url";
import type { ServerRequest } from "srvx";
import { staticMiddleware } from "srvx/static";

/** The browser's files of a built application. */
export interface StaticFiles {
  /** Answers a file, or nothing when the path is not one of them. */
  answer(request: Request, path: string): Promise<Response | null>;
}

const YEAR_S = 31_536_000;

/**
 * Serves the files that the build made and no others, from `client/` beside the built application:
 * what has its hash in its name for a year, the rest to be asked for again each time. The
 * compressed copies are the build's too.
 *
 * @param files their paths, as `/assets/app-1a2b3c.js`
 */
export function staticFiles(files: readonly string[]): StaticFiles {
  const known = new Set(files);
  const dir = fileURLToPath(new URL("./client/", import.meta.url));
  const shared = { dir, encodings: true, compress: false };
  const hashed = staticMiddleware({ ...shared, maxAge: YEAR_S, immutable: true });
  const other = staticMiddleware(shared);
  return {
    async answer(request, path) {
      const file = path.includes("%") ? decodeURIComponent(path) : path; // what cannot be decoded was refused before
      if (!known.has(file) || (request.method !== "GET" && request.method !== "HEAD")) return null;
      const isHashed = file.startsWith("/assets/");
      // The middleware reads these three alone, and decodes the path less than we do.
      const asked = { method: request.method, headers: request.headers, _url: { pathname: encodeURI(file) } };
      const response = await (isHashed ? hashed : other)(asked as unknown as ServerRequest, missed);
      if (response.status === 404) return null; // it was there when it was built
      // Without a word of it, browsers would keep a file for as long as they think best.
      if (!isHashed) response.headers.set("cache-control", "no-cache");
      return response;
    },
  };
}

const missed = () => new Response(null, { status: 404 });
