import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { type ConfigEnv, normalizePath, type Plugin, type ResolvedConfig, type UserConfig } from "vite";
import { isServerOnly, ProjectError, relativePath } from "./modules/index.ts";
import type { DefinedGlobals, ExposedVariables } from "./rules/index.ts";

/** The name of the plugin of the compile step. */
export const PLUGIN_NAME = "tsweb";

/**
 * Checks that the compile step runs once: a module that is compiled twice has the metadata of its declarations twice.
 *
 * @throws ProjectError if the Vite config adds it, although the command has added it
 */
export function checkSinglePlugin({ plugins, configFile, root }: ResolvedConfig): void {
  if (plugins.filter(({ name }) => name === PLUGIN_NAME).length < 2) return;
  const file = configFile ? relativePath(normalizePath(configFile), normalizePath(root)) : "The Vite config";
  throw new ProjectError(
    `${file} adds the plugin tsweb(), which tsweb dev and tsweb build add by themselves. Remove it there. If tests need ` +
      "it, add it to vitest.config.ts.",
  );
}

/** Returns whether Vite runs inside Vitest. */
export function isVitest(config: Pick<ResolvedConfig, "plugins">): boolean {
  return config.plugins.some(({ name }) => /^vitest(?::|$)/.test(name)); // a plugin of the project may lack the name
}

/** Returns which globals of Node the project's Vite config gives to browser code. */
export function definedGlobals(config: ResolvedConfig): DefinedGlobals {
  const { plugins } = config;
  return {
    isReplaced: replacedExpressions(config),
    hasPolyfills: plugins.some(({ name }) => /node/i.test(name) && /polyfill/i.test(name)),
  };
}

/** Returns which variables the project's Vite config gives to modules as `import.meta.env`. */
export function exposedVariables(config: ResolvedConfig): ExposedVariables {
  const isReplaced = replacedExpressions(config);
  return {
    prefixes: [config.envPrefix ?? []].flat(),
    // Read at each call: plugins add variables to it.
    has: (name) => Object.hasOwn(config.env, name) || isReplaced(`import.meta.env.${name}`),
  };
}

/** Returns a function that returns whether the option `define` replaces an expression. */
function replacedExpressions({ define, environments }: ResolvedConfig): (expression: string) => boolean {
  const names = Object.keys({ ...define, ...environments.client?.define });
  return (expression) =>
    names.some(
      (name) => expression === name || (expression.startsWith(name) && /[.[]/.test(expression[name.length] ?? "")),
    );
}

/** The browser modules of every page, in development. */
const PREBUNDLED_DEPENDENCIES = [
  "tsweb/browser",
  "tsweb/stub",
  "tsweb/forms",
  "tsweb/styles",
  "tsweb/selects",
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
    resolve: {
      // Hooks fail when the page contains two copies of Preact, and a linked package may have no tsweb above it.
      dedupe: [
        ...(canResolve("preact", root) ? ["preact"] : []),
        ...(canResolve("tsweb/browser", root) ? ["tsweb"] : []),
      ],
      tsconfigPaths: user.resolve?.tsconfigPaths ?? true,
    },
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
    build: { assetsInlineLimit: neverInlineServerOnly(root, user.build?.assetsInlineLimit) },
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

/** Excludes server-only files from inlining: `generateBundle` can reject an asset only when it is a file of the build. */
function neverInlineServerOnly(root: string, limit: InlineLimit | undefined): InlineLimit {
  return (file, content) => {
    if (isServerOnly(file, root)) return false;
    return typeof limit === "number" ? content.length < limit : limit?.(file, content);
  };
}
