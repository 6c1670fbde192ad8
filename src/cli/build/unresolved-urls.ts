import { stripVTControlCharacters } from "node:util";
import { createLogger, type Plugin } from "vite";
import { findStyleSheetUrls, styleSheetUrlFix } from "../modules/index.ts";

/** Vite's warning about a `url(…)` of a style sheet, which names no style sheet. */
const UNRESOLVED = /^\s*(?<url>\S+) referenced in \S+ didn't resolve at build time/;

/** Collects the URLs of style sheets that lead to no file, and says in which line they are, in place of Vite's warnings. */
export class UnresolvedUrls {
  readonly #urls = new Set<string>();
  #publicDir = "";

  /** The folder of public files, once the config is resolved; empty without one. */
  get publicDir(): string {
    return this.#publicDir;
  }

  plugin(): Plugin {
    const urls = this.#urls;
    return {
      name: "tsweb:unresolved-urls",
      config({ customLogger, logLevel }) {
        const logger = customLogger ?? createLogger(logLevel);
        const warnOnce = logger.warnOnce.bind(logger);
        logger.warnOnce = (message, options) => {
          const url = UNRESOLVED.exec(stripVTControlCharacters(message))?.groups?.url;
          if (url === undefined) warnOnce(message, options);
          else urls.add(url);
        };
        return { customLogger: logger };
      },
      configResolved: ({ publicDir }) => {
        this.#publicDir = publicDir;
      },
    };
  }

  /**
   * Returns a warning for each of the URLs, without those that a route serves.
   *
   * @param routePaths the path patterns of the routes
   */
  async warnings(root: string, routePaths: readonly string[]): Promise<string[]> {
    if (this.#urls.size === 0) return [];
    const unserved = new Set(withoutRoutes([...this.#urls], routePaths));
    const found = await findStyleSheetUrls(root, (url) => unserved.has(decoded(url)));
    for (const { url } of found) unserved.delete(decoded(url));
    const folders = { root, publicDir: this.#publicDir };
    return [
      ...found.map(
        (each) =>
          `${each.location} refers to ${each.url}, and there is no such file. ${styleSheetUrlFix(each, folders)}`,
      ),
      ...[...unserved].map((url) => `A style sheet refers to ${url}, and there is no such file.`),
    ];
  }
}

/** Vite's message has the URL decoded. */
function decoded(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** Returns the URLs that no route serves. */
function withoutRoutes(urls: readonly string[], routePaths: readonly string[]): string[] {
  const patterns = routePaths.map((path) => {
    const parts = path.split(/:\w+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join("[^/]+")}$`);
  });
  return urls.filter((url) => !patterns.some((pattern) => pattern.test(url.replace(/[?#].*$/s, ""))));
}
