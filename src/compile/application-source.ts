import { existsSync } from "node:fs";
import { posix } from "node:path";
import { normalizePath } from "vite";
import type { ModuleCache, ViteResolver } from "./module-cache.ts";
import { type ServedFunctions, servedFunctions } from "./modules/index.ts";

/** What the source of the application's module shows. Each part is read once for all modules that are compiled. */
export class ApplicationSource {
  private readonly modules: ModuleCache;
  private readonly file: string | undefined;

  /** @param file the application's module, absolute or relative to the root */
  constructor(modules: ModuleCache, file?: string) {
    this.modules = modules;
    this.file = file;
  }

  /** Returns the application's module as an absolute path. */
  entry(): string | undefined {
    return this.modules.remember("entry", () => applicationModule(this.modules.root, this.file));
  }

  /** Returns which server functions the application serves. Its own errors are reported when it is compiled. */
  served(resolver: ViteResolver): Promise<ServedFunctions | undefined> {
    return this.modules.remember(`served ${resolver.environment}`, async () => {
      const entry = await resolver.read(this.entry());
      return entry && servedFunctions(entry, resolver);
    });
  }
}

const NAMES = ["src/app.ts", "src/app.tsx", "src/app.js"];

/**
 * Returns the application module as an absolute path; `undefined` when the project has none.
 *
 * @param entry its path, absolute or relative to the root. Default: `src/app.ts`, `.tsx` or `.js`
 */
export function applicationModule(root: string, entry?: string): string | undefined {
  const candidates = entry ? [entry] : NAMES;
  return candidates.map((file) => posix.resolve(root, normalizePath(file))).find((file) => existsSync(file));
}
