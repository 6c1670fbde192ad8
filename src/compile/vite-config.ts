import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { ConfigEnv, Plugin, ResolvedConfig, UserConfig } from "vite";
import { isServerModule } from "./syntax/index.ts";

/** Returns whether Vite runs inside Vitest. */
export function isVitest(config: Pick<ResolvedConfig, "plugins">): boolean {
  return config.plugins.some((plugin) => plugin.name === "vitest" || plugin.name.startsWith("vitest:"));
}

/** The browser modules of every page, in development. */
const PREBUNDLED_DEPENDENCIES = [
  "tsweb/browser",
  "tsweb/stub",
  "tsweb/islands",
  "tsweb/jsx-dev-runtime",
  "tsweb > @prefresh/core",
  "tsweb > @prefresh/utils",
];

/** Returns the Vite configuration that the compile step requires. */
export function viteConfig(user: UserConfig, env: ConfigEnv, workers?: () => Plugin[]): UserConfig {
  const isDev = env.command === "serve";
  const root = resolve(user.root ?? ".");
  return {
    oxc: user.oxc === false ? false : { jsx: { runtime: "automatic", importSource: "tsweb", refresh: isDev } },
    // Hooks fail when the page contains two copies of Preact.
    resolve: { dedupe: canResolve("preact", root) ? ["preact"] : [] },
    environments: {
      // External packages are loaded by Node, so the application and the development server share one instance.
      ssr: { resolve: isDev ? { external: ["tsweb", "preact", "preact-render-to-string"] } : {} },
    },
    // Listed here, so that their discovery does not reload the first page after a start.
    optimizeDeps: {
      include: isDev && canResolve("tsweb/browser", root) ? PREBUNDLED_DEPENDENCIES : [],
      // The dependency scanner has its own JSX settings, whose default is React.
      rolldownOptions: { transform: { jsx: { runtime: "automatic", importSource: "tsweb" } } },
    },
    build: { assetsInlineLimit: neverInlineServerModules(user.build?.assetsInlineLimit) },
    // A build bundles workers with these plugins only. Without them a worker would contain server modules.
    ...(workers ? { worker: { plugins: workers } } : {}),
  };
}

/** Returns whether a package resolves from the root. `resolve.dedupe` looks there only, so a missing package would fail. */
function canResolve(name: string, root: string): boolean {
  try {
    createRequire(join(root, "package.json")).resolve(name);
    return true;
  } catch {
    return false;
  }
}

type InlineLimit = NonNullable<NonNullable<UserConfig["build"]>["assetsInlineLimit"]>;

/** Excludes server modules from inlining: `generateBundle` can reject an asset only when it is a file of the build. */
function neverInlineServerModules(limit: InlineLimit | undefined): InlineLimit {
  return (file, content) => {
    if (isServerModule(file)) return false;
    return typeof limit === "number" ? content.length < limit : limit?.(file, content);
  };
}
