import { SourceMap, type SourceMapPayload } from "node:module";
import type { DevEnvironment } from "vite";
import { isServerModule } from "../../../compile/index.ts";
import type { SourcePosition } from "../../errors/index.ts";
import { DEV_BASE } from "./assets.ts";

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
    // Vite has resolved the URL of a module that it has sent. `getModuleByUrl()` would resolve any other, which can fail.
    const { file, transformResult } = client.moduleGraph.urlToModuleMap.get(moduleUrl(url)) ?? {};
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

/** Returns the URL of a module as Vite's graph has it: without the base and the parameters that Vite adds. */
function moduleUrl(url: string): string {
  const [path = "", ...query] = `/${url.slice(DEV_BASE.length)}`.split("?");
  const parameters = query
    .join("?")
    .split("&")
    .filter((parameter) => parameter !== "" && !/^(?:import|t=\d{13}|v=[\w-]+)$/.test(parameter));
  return parameters.length > 0 ? `${path}?${parameters.join("&")}` : path;
}
