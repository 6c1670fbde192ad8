import type { DevEnvironment } from "vite";

/**
 * Transforms a module and everything that it imports, in parallel. Vite's runner requests one module after the other, and
 * waits for the file system and for other threads at each. It finds those that are transformed already.
 *
 * Ignores failures: the runner requests a failed module once more, in the order of the imports, and throws its error.
 *
 * @param url the module, as it is passed to the runner
 */
export async function transformImports(environment: DevEnvironment, url: string): Promise<void> {
  const requested = new Set<string>();
  const transform = async (module: string): Promise<void> => {
    requested.add(module);
    const result = await environment.transformRequest(module).catch(() => null);
    // Those of external packages are no URLs.
    const imports = result?.deps?.filter((url) => url.startsWith("/") && !requested.has(url)) ?? [];
    await Promise.all(imports.map(transform));
  };
  await transform(url);
}
