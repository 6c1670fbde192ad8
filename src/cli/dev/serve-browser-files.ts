import type { NodeHandler } from "../../adapters/index.ts";
import { DEV_BASE } from "./assets.ts";
import { BrowserFiles } from "./browser-files.ts";
import type { DevApp } from "./dev-app.ts";
import { setHeaders } from "./requests.ts";

/** Passes requests for the browser's files to Vite, and all others to the application. */
export function serveBrowserFiles(
  { vite, entry, registry, loader, maps, restarts }: DevApp,
  next: NodeHandler,
): NodeHandler {
  const files = new BrowserFiles();
  const application = () => {
    const { client, ssr } = vite.environments; // others after a restart
    return { client, ssr, entry, registry };
  };
  const find = async (url: string) => {
    const found = files.find(url, application());
    if (found !== undefined || !url.startsWith(DEV_BASE)) return found;
    // After a restart, the files of the application are known once it is loaded. The handler of the application shows errors.
    const isLoaded = await loader.load().then(Boolean, () => false);
    return isLoaded ? files.find(url, application()) : undefined;
  };
  return async (request, response) => {
    const { method, url = "/" } = request;
    const isRead = method === "GET" || method === "HEAD";
    const found = isRead ? await find(url) : undefined;
    if (found === undefined) return next(request, response);
    request.url = found;
    response.once("finish", () => {
      files.record(application());
      maps.record(found, vite.environments.client);
    });
    setHeaders(request, response);
    const refuse = () => {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
      response.end("This file could not be loaded. The terminal of the development server shows why.\n");
    };
    restarts.serve(request, response, () => vite.middlewares(request, response, refuse));
  };
}
