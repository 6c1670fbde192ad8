import type { RunnableDevEnvironment } from "vite";

/**
 * Transforms a module and everything that it imports, also by `import()`, in parallel. Vite's runner requests one module after
 * the other, and waits for the file system and for other threads at each. It finds those that are transformed already. And
 * Vite's graph of modules is complete afterwards: pages link the style sheets of modules that a view imports later.
 *
 * A module that the runner has run is not transformed again: after an edit, the runner would not notice that it has to run it.
 *
 * Ignores failures: the runner requests a failed module once more, in the order of the imports, and throws its error.
 *
 * @param url the module, as it is passed to the runner
 */
export async function transformImports(environment: RunnableDevEnvironment, url: string): Promise<void> {
  const { runner } = environment;
  const requested = new Set<string>();
  const transform = async (module: string): Promise<void> => {
    requested.add(module);
    const ran = runner.evaluatedModules.getModuleByUrl(module);
    const result = ran
      ? environment.moduleGraph.getModuleById(ran.id)?.transformResult
      : await environment.transformRequest(module).catch(() => null);
    // Those of external packages are no URLs.
    const imports = [...(result?.deps ?? []), ...(result?.dynamicDeps ?? [])];
    await Promise.all(imports.filter((url) => url.startsWith("/") && !requested.has(url)).map(transform));
  };
  await transform(url);
}
