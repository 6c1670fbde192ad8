import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { ConfigEnv, Plugin, ResolvedConfig, UserConfig } from "vite";
import { isServerModule } from "./parse.ts";

/** Answers whether a project is being tested: Vitest is one of its plugins then. */
export function isVitest(config: Pick<ResolvedConfig, "plugins">): boolean {
  return config.plugins.some((plugin) => plugin.name === "vitest" || plugin.name.startsWith("vitest:"));
}

/** What the browser's side of every page is made of, in development. */
const BROWSER_DEPENDENCIES = [
  "tsweb/browser",
  "tsweb/stub",
  "tsweb/islands",
  "tsweb/jsx-dev-runtime",
  "tsweb > @prefresh/core",
  "tsweb > @prefresh/utils",
];

/** Gives the settings of Vite that the compile step rests on. */
export function compileConfig(user: UserConfig, env: ConfigEnv, workers?: () => Plugin[]): UserConfig {
  const isDev = env.command === "serve";
  const root = resolve(user.root ?? ".");
  return {
    oxc: user.oxc === false ? false : { jsx: { runtime: "automatic", importSource: "tsweb", refresh: isDev } },
    // Two copies of Preact do not know each other's hooks.
    resolve: { dedupe: canResolve("preact", root) ? ["preact"] : [] },
    environments: {
      // Node loads these: the application's modules and the server around them then share one instance.
      ssr: { resolve: isDev ? { external: ["tsweb", "preact", "preact-render-to-string"] } : {} },
    },
    // Known beforehand, so that the first page of a fresh start need not load twice.
    optimizeDeps: {
      include: isDev && canResolve("tsweb/browser", root) ? BROWSER_DEPENDENCIES : [],
      // The search for more of them reads JSX with settings of its own, and would look for React.
      rolldownOptions: { transform: { jsx: { runtime: "automatic", importSource: "tsweb" } } },
    },
    build: { assetsInlineLimit: neverInlineServerModules(user.build?.assetsInlineLimit) },
    // In a build, a worker's modules pass these plugins alone, and would hold server modules as they are.
    ...(workers ? { worker: { plugins: workers } } : {}),
  };
}

/** De-duplicated packages are looked for in the root alone: one that is not there would be found nowhere. */
function canResolve(name: string, root: string): boolean {
  try {
    createRequire(join(root, "package.json")).resolve(name);
    return true;
  } catch {
    return false;
  }
}

type InlineLimit = NonNullable<NonNullable<UserConfig["build"]>["assetsInlineLimit"]>;

/** An asset made of a server module is refused when the files of a build are known: it must be one of them. */
function neverInlineServerModules(limit: InlineLimit | undefined): InlineLimit {
  return (file, content) => {
    if (isServerModule(file)) return false;
    return typeof limit === "number" ? content.length < limit : limit?.(file, content);
  };
}
