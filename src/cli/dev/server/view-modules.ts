import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { createIdResolver, normalizePath, type ParseResult, type Plugin, parse, type Rolldown } from "vite";
import { isServerModule } from "../../../compile/index.ts";
import { filesBelow } from "../../project/index.ts";

const SCRIPT = /\.[cm]?[jt]sx?$/;
const INSTALLED = /\/node_modules\//;
/** Imports of tsweb, whose packages are always bundled. A linked copy is not below `node_modules`. */
const OWN = /^tsweb(?:\/|$)/;

/** Resolves an import to a file; `undefined` if there is none. */
type Resolve = (specifier: string, importer: string) => Promise<string | undefined>;

/** The browser modules of an application, as far as they are known before a page is requested. */
export interface BrowserModules {
  /** The absolute paths of the modules that declare views, sorted. */
  readonly views: readonly string[];
  /** The specifiers of installed packages that modules import, other than server modules, sorted. */
  readonly packages: readonly string[];
  /** The absolute paths of modules with syntax errors. */
  readonly unparsed: ReadonlySet<string>;
}

/**
 * Returns a plugin with which Vite bundles the packages that views import when the server starts, before it responds to the
 * first request of a browser. A package that Vite found only when a page loads it could reload this page and all others.
 */
export function scanViews(entry: string): Plugin {
  return {
    name: "tsweb:scan-views",
    // Vite searches for packages after this hook.
    async configureServer({ config, environments: { client, ssr } }) {
      const resolver = createIdResolver(config);
      const { root } = config;
      const resolve: Resolve = (specifier, importer) => resolver(ssr, specifier, importer);
      const { views, packages, unparsed } = await findBrowserModules(entry, { root, resolve });
      const { optimizeDeps } = client.config;
      const patterns = views.map((file) => escapePattern(normalizePath(relative(root, file))));
      optimizeDeps.entries = [optimizeDeps.entries ?? [], patterns].flat();
      const { transform, plugins, ...others } = optimizeDeps.rolldownOptions ?? {};
      const entryModule = normalizePath(entry);
      const excluded = await findUnparsed(packages, (specifier) => resolver(client, specifier, entryModule));
      optimizeDeps.exclude = [...(optimizeDeps.exclude ?? []), ...excluded];
      // Vite does not search again while the options are those of its last bundles. This option changes nothing else.
      const hash = createHash("sha256").update(packages.join("\n")).digest("hex").slice(0, 16);
      const define = { ...transform?.define, __TSWEB_PACKAGES__: JSON.stringify(hash) };
      optimizeDeps.rolldownOptions = {
        shimMissingExports: true, // for the same reason as below; `tsweb build` reports them
        ...others,
        transform: { ...transform, define },
        plugins: [plugins, skipModules(unparsed), isolateErrors(root)],
      };
    },
  };
}

/** The search would end with the first syntax error. The import of the module reports it. */
function skipModules(files: ReadonlySet<string>): Rolldown.Plugin {
  return { name: "tsweb:skip-modules", load: (id) => (files.has(normalizePath(id)) ? "" : undefined) };
}

/**
 * Replaces modules of packages that cannot be bundled by modules that throw the error when they run. Otherwise the bundles of all
 * packages would fail with it, and with those of tsweb the scripts of all pages.
 */
function isolateErrors(root: string): Rolldown.Plugin {
  const name = (id: string) => normalizePath(relative(root, id));
  return {
    name: "tsweb:isolate-errors",
    resolveId: {
      order: "post",
      filter: { id: /^\.\.?\// },
      async handler(id, importer, options) {
        if (!importer || !INSTALLED.test(normalizePath(importer))) return undefined;
        const resolved = await this.resolve(id, importer, { ...options, skipSelf: true });
        return resolved ?? `${BROKEN}${name(importer)} imports ${id}, which does not exist`;
      },
    },
    load: {
      filter: { id: new RegExp(`^${BROKEN}`) },
      handler: (id) => ({ code: throwing("Error", id.slice(BROKEN.length)), moduleType: "js" }),
    },
    transform: {
      filter: { id: /\/node_modules\/.*\.[cm]?js$/ },
      async handler(code, id) {
        const error = await syntaxError(id, code);
        return error && { code: throwing("SyntaxError", `${name(id)} cannot be parsed: ${error}`), moduleType: "js" };
      },
    },
  };
}

const BROKEN = "\0tsweb-broken:";

function throwing(type: string, message: string): string {
  return `throw new ${type}(${JSON.stringify(`${message}. Report it to the package, or remove its import.`)});`;
}

/** Returns the message of the first syntax error of a module; `null` if it has none. */
async function syntaxError(file: string, code: string): Promise<string | null> {
  const { errors } = await parse(file, code);
  return errors[0]?.message ?? null;
}

/** Returns the packages whose own module cannot be parsed in the browser. Vite reads it before any plugin. */
async function findUnparsed(packages: readonly string[], resolve: (specifier: string) => Promise<string | undefined>) {
  const checks = packages.map(async (specifier) => {
    const file = await resolve(specifier).catch(() => undefined);
    if (file === undefined || !SCRIPT.test(file)) return [];
    const error = await syntaxError(file, await readFile(file, "utf8").catch(() => ""));
    return error === null ? [] : [specifier];
  });
  return (await Promise.all(checks)).flat();
}

/**
 * Finds the modules with views: those that the application module imports, directly or through other modules, also with `import()`
 * and from linked packages; and those in its folder, for imports whose path is computed.
 */
export async function findBrowserModules(
  entry: string,
  { root, resolve }: { readonly root: string; readonly resolve: Resolve },
): Promise<BrowserModules> {
  const views = new Set<string>();
  const packages = new Set<string>();
  const unparsed = new Set<string>();
  const visited = new Set<string>();
  const visit = async (file: string, isReached: boolean): Promise<void> => {
    if (visited.has(file)) return;
    const code = await readFile(file, "utf8").catch(() => ""); // deleted since
    const hasViews = mayDeclareViews(code) && !isServerModule(file, root);
    if (visited.has(file) || !(isReached || hasViews)) return;
    visited.add(file);
    if (hasViews) views.add(file);
    const follow = async (specifier: string) => {
      // The import itself reports that there is no such module.
      const imported = await resolve(specifier, file).catch(() => undefined);
      if (imported === undefined || OWN.test(specifier)) return;
      if (!INSTALLED.test(imported)) return SCRIPT.test(imported) ? visit(imported, true) : undefined;
      if (!isServerModule(file, root)) packages.add(specifier);
    };
    const parsed = await parse(file, code);
    if (parsed.errors.length > 0) unparsed.add(file);
    await Promise.all(specifiersOf(code, parsed).map(follow));
  };
  await visit(normalizePath(entry), true);
  await Promise.all(scriptsIn(dirname(entry)).map((file) => visit(file, false)));
  return { views: [...views].sort(), packages: [...packages].sort(), unparsed };
}

function scriptsIn(folder: string): string[] {
  return (filesBelow(folder) ?? []).map(normalizePath).filter((file) => SCRIPT.test(file));
}

function mayDeclareViews(code: string): boolean {
  return /["']tsweb\/browser["']/.test(code) && /\bview\b/.test(code);
}

/** Returns what a module imports, without imports of types and those whose path is computed. */
function specifiersOf(code: string, { module }: ParseResult): string[] {
  const imports = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const exports = module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ isType, moduleRequest }) => (isType || !moduleRequest ? [] : moduleRequest.value));
  const dynamic = module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const literal = /^(["'`])([^"'`$\\]+)\1$/.exec(code.slice(start, end));
    return literal?.[2] ?? [];
  });
  return [...new Set([...imports, ...exports, ...dynamic])];
}

/** Returns a glob pattern that matches exactly one path: paths of files may contain `[id]` or `(group)`. */
function escapePattern(path: string): string {
  return path.replace(/[()[\]{}!*?+@|\\]/g, "\\$&");
}
