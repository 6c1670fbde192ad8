import type { DepOptimizationOptions } from "vite";

/**
 * Names what the build tool is to bundle for the browser before the first page, in development.
 *
 * All of it at once: what is found later, with the second page's view, would reload the page. And
 * Prefresh with it: left out, it would bring a Preact of its own, and see no component of ours.
 * A linked tsweb is source that may change, and is not bundled ahead.
 *
 * @param file where this framework is; below `node_modules` it was installed
 */
export function developmentDependencies(file: string): DepOptimizationOptions {
  if (!/[\\/]node_modules[\\/]/.test(file)) return {};
  return {
    include: [
      "tsweb/browser",
      "tsweb/islands",
      "tsweb/stub",
      "tsweb/jsx-dev-runtime",
      "tsweb > @prefresh/core",
      "tsweb > @prefresh/utils",
    ],
  };
}
