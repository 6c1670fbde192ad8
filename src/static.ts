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
  const missed = () => new Response(null, { status: 404 });
  return {
    async answer(request, path) {
      if (!known.has(decodePath(path)) || (request.method !== "GET" && request.method !== "HEAD")) return null;
      const serve = path.startsWith("/assets/") ? hashed : other;
      // The middleware reads these three alone.
      const asked = { method: request.method, headers: request.headers, _url: new URL(path, "http://site.invalid") };
      return serve(asked as unknown as ServerRequest, missed);
    },
  };
}

function decodePath(path: string): string {
  return decodeURIComponent(path); // the pipeline has refused paths that cannot be decoded
}
