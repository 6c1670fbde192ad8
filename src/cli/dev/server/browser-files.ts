import { SourceMap, type SourceMapPayload } from "node:module";
import { posix } from "node:path";
import type { DevEnvironment, EnvironmentModuleNode, ViteDevServer } from "vite";
import type { NodeHandler } from "../../../adapters/index.ts";
import { type BuildRegistry, isServerModule, namesServerOnlyUrl } from "../../../compile/index.ts";
import type { SourcePosition } from "../../errors/index.ts";
import { STYLE_SHEET } from "../../project/index.ts";
import type { DevAppLoader } from "./app-loader.ts";
import { DEV_BASE, fileUrl, PAGE_SCRIPTS } from "./assets.ts";
import { setHeaders } from "./requests.ts";
import type { Restarts } from "./restart.ts";

/**
 * Vite writes the URL of an imported file into the code of the module that imports it: in quotes, or in `url(…)` of a
 * style sheet. Within the string of a style sheet, the quotes have a backslash.
 */
const QUOTED = new RegExp(`(["'\`])(${DEV_BASE}[^"'\`\\\\\\n]+)\\\\?\\1`, "g");
const UNQUOTED = new RegExp(`\\((${DEV_BASE}[^"'\`()\\s]+)\\)`, "g");

/** Parameters that do not select another file: the time of an edit, the version of a dependency, and `import`. */
const NEUTRAL_PARAMETER = /^(?:import|t=\d{13}|v=[\w-]+)$/;

/** What {@link serveBrowserFiles} needs of the development server. */
interface BrowserFilesServer {
  readonly vite: ViteDevServer;
  readonly entry: string;
  readonly registry: BuildRegistry;
  readonly loader: Pick<DevAppLoader, "load">;
  readonly maps: ServedSourceMaps;
  readonly restarts: Restarts;
}

/** Passes requests for the browser's files to Vite, and all others to the application. */
export function serveBrowserFiles(
  { vite, entry, registry, loader, maps, restarts }: BrowserFilesServer,
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

/** The application of which files are served. */
interface ServedApplication {
  readonly client: DevEnvironment;
  readonly ssr: DevEnvironment;
  /** The application module. */
  readonly entry: string;
  readonly registry: BuildRegistry;
}

/**
 * The files that browsers may load from the development server: what a page refers to (its scripts, views, style sheets
 * and images), and what the code of a module refers to that a browser may load. All else in the project is private.
 *
 * Vite serves any file below the project's root and in the workspace. It knows nothing of pages, so it cannot decide.
 */
class BrowserFiles {
  /** The code of each module, and the URLs in it. */
  readonly #references = new WeakMap<EnvironmentModuleNode, { readonly code: string; readonly urls: UrlsByKey }>();
  readonly #fileUrls = new Map<string, ParsedUrl>();

  /**
   * Returns the URL to request from Vite: the path exactly as Vite has written it, so that it cannot be read in two ways.
   *
   * @param target the request target
   * @returns `undefined` when browsers may not load the file
   */
  find(target: string, application: ServedApplication): string | undefined {
    const requested = target.startsWith(DEV_BASE) ? parseUrl(target) : undefined;
    if (!requested) return undefined;
    const { key, neutral } = requested;
    const isMap = key.endsWith(".map");
    const path = this.#lookUp(key, application) ?? (isMap && this.#lookUp(key.slice(0, -4), application));
    if (!path || namesServerOnlyUrl(path.slice(DEV_BASE.length - 1), application.ssr.config.root)) return undefined;
    const suffix = isMap && !path.endsWith(".map") ? ".map" : "";
    return `${path}${suffix}${neutral ? `${path.includes("?") ? "&" : "?"}${neutral}` : ""}`;
  }

  /**
   * Stores the URLs in the code of all modules. Call it after each response: an edit removes the code of modules that
   * open pages still run, and these may import further modules later.
   */
  record({ client, ssr }: ServedApplication): void {
    for (const module of modulesOf(client, ssr)) this.#urlsIn(module);
  }

  #lookUp(key: string, application: ServedApplication): string | undefined {
    const { client, ssr } = application;
    for (const module of modulesOf(client, ssr)) {
      const url = this.#urlsIn(module)?.get(key);
      if (url !== undefined) return url;
    }
    return this.#pageUrl(key, application);
  }

  /** Returns the URL that pages refer to. Images and other files are in the code of the server's modules. */
  #pageUrl(key: string, { ssr, entry, registry }: ServedApplication): string | undefined {
    const { root } = ssr.config;
    const views = new Set(registry.views().map(({ file }) => posix.join(root, file)));
    for (const id of importedIds(entry, ssr)) {
      if (!views.has(id) && !STYLE_SHEET.test(id)) continue;
      const url = this.#urlOfFile(id, root);
      if (url?.key === key) return url.url;
    }
    return SCRIPT_URLS.get(key);
  }

  #urlOfFile(file: string, root: string): ParsedUrl | undefined {
    const known = this.#fileUrls.get(file);
    if (known) return known;
    const parsed = parseUrl(fileUrl(file, root));
    if (parsed) this.#fileUrls.set(file, parsed);
    return parsed;
  }

  /** Returns the URLs in a module's code. While the module waits for its next request after an edit, those before it. */
  #urlsIn(module: EnvironmentModuleNode): UrlsByKey | undefined {
    const known = this.#references.get(module);
    const code = module.transformResult?.code;
    if (code === undefined || code === known?.code) return known?.urls;
    const urls = urlsByKey([...code.matchAll(QUOTED), ...code.matchAll(UNQUOTED)].map((match) => match.at(-1) ?? ""));
    this.#references.set(module, { code, urls });
    return urls;
  }
}

function modulesOf(...environments: readonly DevEnvironment[]): EnvironmentModuleNode[] {
  return environments.flatMap(({ moduleGraph }) => [...moduleGraph.idToModuleMap.values()]);
}

/** URLs without their neutral parameters, by the decoded form of such a URL. */
type UrlsByKey = ReadonlyMap<string, string>;

function urlsByKey(urls: readonly string[]): UrlsByKey {
  return new Map(
    urls.flatMap((url) => {
      const parsed = parseUrl(url);
      return parsed ? [[parsed.key, parsed.url]] : [];
    }),
  );
}

const SCRIPT_URLS = urlsByKey(PAGE_SCRIPTS);

/** Returns the ids of the modules that a module imports, directly or through others. */
function* importedIds(id: string, { moduleGraph }: DevEnvironment): Iterable<string> {
  const modules = new Set(moduleGraph.getModuleById(id)?.importedModules);
  for (const module of modules) {
    if (module.id !== null) yield module.id;
    for (const imported of module.importedModules) modules.add(imported);
  }
}

interface ParsedUrl {
  readonly key: string;
  readonly url: string;
  readonly neutral: string;
}

/** Splits a URL into what selects a file, and the other parameters. `undefined` when it cannot be decoded. */
function parseUrl(url: string): ParsedUrl | undefined {
  const [path = "", ...rest] = url.split("?");
  const parameters = rest
    .join("?")
    .split("&")
    .filter((parameter) => parameter !== "");
  const selecting = parameters.filter((parameter) => !NEUTRAL_PARAMETER.test(parameter)).join("&");
  const neutral = parameters.filter((parameter) => NEUTRAL_PARAMETER.test(parameter)).join("&");
  const query = selecting && `?${selecting}`;
  try {
    return { key: decodeURI(path) + query, url: path + query, neutral };
  } catch {
    return undefined;
  }
}

/** The number of versions of a module whose maps are kept. Open pages run old versions until they are updated or reloaded. */
const MAX_VERSIONS = 10;

interface ServedModule {
  readonly file: string;
  readonly map: SourceMapPayload;
}

/** The source maps of the modules that browsers have loaded, by their URLs. */
export class ServedSourceMaps {
  readonly #modules = new Map<string, ServedModule>();
  /** The URLs of the kept versions of a file, the oldest first. */
  readonly #versions = new Map<string, Set<string>>();

  /**
   * Stores the map of a module that was sent to a browser. An edit changes the map of a module, but open pages run the code
   * before it: its URL differs by the time of the edit.
   *
   * @param url the URL that was requested from Vite
   */
  record(url: string, client: DevEnvironment): void {
    // Vite's graph has the URLs of the modules that it has sent, without its base and parameters. `getModuleByUrl()` would
    // resolve any other, which can fail.
    const known = parseUrl(`/${url.slice(DEV_BASE.length)}`)?.url ?? "";
    const { file, transformResult } = client.moduleGraph.urlToModuleMap.get(known) ?? {};
    const map = transformResult?.map;
    if (!file || !map || !("mappings" in map) || map.mappings === "") return;
    if (isServerModule(file, client.config.root)) return; // its source is never shown to browsers
    // Vite's maps have all fields of the payload; their types differ in optional ones.
    this.#modules.set(url, { file, map: { ...(map as unknown as SourceMapPayload), sourcesContent: [] } });
    this.#keepLast(file, url);
  }

  #keepLast(file: string, url: string): void {
    const urls = this.#versions.get(file) ?? new Set();
    this.#versions.set(file, urls);
    urls.delete(url);
    urls.add(url);
    const [oldest] = urls;
    if (urls.size <= MAX_VERSIONS || oldest === undefined) return;
    urls.delete(oldest);
    this.#modules.delete(oldest);
  }

  /** Returns whether a file is the source of a module that a browser has loaded. */
  includes(file: string): boolean {
    return this.#versions.has(file);
  }

  /**
   * Returns the position in the source; `undefined` for code that the developer has not written.
   *
   * @param path the URL of the code, from its path on
   * @param line and `column` count from 1, as in a stack
   */
  find(path: string, line: number, column: number): SourcePosition | undefined {
    const served = this.#modules.get(path);
    if (!served) return undefined;
    const entry = new SourceMap(served.map).findEntry(line - 1, column - 1);
    if (!("originalLine" in entry) || entry.originalLine === undefined) return undefined;
    return { file: served.file, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  }
}
