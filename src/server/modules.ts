import { type QueryDefinition, queryOf } from "../live/index.ts";
import { type PageDefinition, pageOf, type RouteDefinition, routeOf } from "../pages/index.ts";
import { endpointKey } from "../protocol/index.ts";
import { definitionOf, type FunctionDefinition } from "../rpc/index.ts";

/** A module of an application: `import * as accounts from "./accounts.server.ts"`. */
export type Module = Readonly<Record<string, unknown>>;

/** The functions, queries, pages and routes that the modules of an application export. */
export interface Listing {
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  readonly queries: ReadonlyMap<string, QueryDefinition>;
  readonly pages: readonly PageDefinition[];
  readonly routes: readonly RouteDefinition[];
}

/**
 * Returns the functions, queries, pages and routes that the modules of an application export.
 *
 * @throws TypeError for modules that are no list
 * @throws Error for two functions or queries of one name, for two pages or routes of one path and method, for a function or query that is
 *   exported under another name than its own, and for a module that serves nothing. The message names the files.
 */
export function listModules(modules: readonly Module[]): Listing {
  if (!Array.isArray(modules)) throw new TypeError(notListMessage(modules));
  const functions = new Map<string, FunctionDefinition>();
  const queries = new Map<string, QueryDefinition>();
  const named = new Map<string, NamedDeclaration>();
  const endpoints = new Map<string, PageDefinition | RouteDefinition>();
  modules.forEach((module, index) => {
    if (typeof module !== "object" || module === null) {
      throw new Error(
        `new App: modules[${index}] is ${module === undefined ? "undefined" : `a ${typeof module}`}, and not a module. ` +
          'Import each module as a namespace: import * as pages from "./pages.server.tsx".',
      );
    }
    let count = 0;
    for (const [name, value] of Object.entries(module)) {
      const definition = definitionOf(value);
      const query = queryOf(value);
      const endpoint = pageOf(value) ?? routeOf(value);
      if (definition) {
        addName(named, name, { definition, kind: "server function", ...definition.signature });
        functions.set(name, definition);
      }
      if (query) {
        addName(named, name, { definition: query, kind: "query", ...query });
        queries.set(name, query);
      }
      if (endpoint) addEndpoint(endpoints, endpoint);
      if (definition || query || endpoint) count++;
    }
    if (count === 0) {
      const names = Object.keys(module).join(", ") || "nothing at all";
      throw new Error(
        `new App: modules[${index}] serves nothing. It exports ${names}. List only modules that export server ` +
          'functions, pages or routes, as a namespace: import * as pages from "./pages.server.tsx".',
      );
    }
  });
  const all = [...endpoints.values()];
  return {
    functions,
    queries,
    pages: all.filter((endpoint) => endpoint.kind === "page"),
    routes: all.filter((endpoint) => endpoint.kind === "route"),
  };
}

function notListMessage(modules: unknown): string {
  const isModule = Object.prototype.toString.call(modules) === "[object Module]";
  const received = modules == null ? String(modules) : isModule ? "one module" : `of type ${typeof modules}`;
  return (
    `new App: modules must be a list of modules, and it is ${received}. Write modules: [pages], and import each module ` +
    'as a namespace: import * as pages from "./pages.server.tsx".'
  );
}

/** What an application has under a name of its own. */
interface NamedDeclaration {
  readonly definition: object;
  readonly kind: "server function" | "query";
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

function addName(named: Map<string, NamedDeclaration>, exported: string, added: NamedDeclaration): void {
  const { kind, name, file } = added;
  if (exported !== name) {
    throw new Error(
      `new App: the ${kind} ${name} of ${file} is exported as ${exported}. Callers use the name that it was ` +
        `declared with: export it as ${name}, or do not export it.`,
    );
  }
  const earlier = named.get(name);
  if (earlier && earlier.definition !== added.definition) {
    const kinds =
      earlier.kind === kind
        ? `two ${kind === "query" ? "queries" : "server functions"} are`
        : `a ${earlier.kind} and a ${kind} are`;
    throw new Error(
      `new App: ${kinds} named ${name}, in ${formatLocation(earlier)} and in ${formatLocation(added)}. Rename one of them.`,
    );
  }
  named.set(name, added);
}

function addEndpoint(
  endpoints: Map<string, PageDefinition | RouteDefinition>,
  added: PageDefinition | RouteDefinition,
): void {
  // A page handles GET: of a page and a GET route with one path, one would never be reached.
  const method = added.kind === "page" ? "GET" : added.method;
  const key = endpointKey(method, added.path);
  const earlier = endpoints.get(key);
  if (earlier && earlier !== added) {
    throw new Error(
      `new App: ${method} ${added.path} is declared twice, as a ${earlier.kind} in ${formatLocation(earlier.source)} ` +
        `and as a ${added.kind} in ${formatLocation(added.source)}. Change the path of one of them.`,
    );
  }
  endpoints.set(key, added);
}

/** A server function that browser code calls. */
export interface CalledFunction {
  readonly name: string;
  /** The server module that declares it. */
  readonly file: string;
  /** The browser module that calls it. */
  readonly importer: string;
}

/**
 * Checks that every server function that browser code calls is served.
 *
 * @throws Error that names the function, its file and its caller
 */
export function checkCalledFunctions(
  called: readonly CalledFunction[],
  { functions }: Pick<Listing, "functions">,
): void {
  for (const { name, file, importer } of called) {
    if (functions.get(name)?.signature.file === file) continue;
    throw new Error(
      `${importer} calls ${name} of ${file}, which is not served. Add ${file} to the modules of new App.`,
    );
  }
}

/** Returns where a function, page or route is declared: `src/pages.server.tsx:12`. */
export function formatLocation({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${file}:${line}`;
}

/** The functions, pages and routes of an application, for tools that describe it. */
export interface Inspection {
  readonly title: string;
  /** The path below which it is served: empty, or `/shop`. */
  readonly base: string;
  /** The origins of `WEB_ORIGIN`. */
  readonly origins: readonly string[];
  /** Whether arguments are checked for the whole type of their parameters. */
  readonly strict: boolean;
  readonly functions: readonly FunctionDefinition[];
  readonly pages: readonly PageDefinition[];
  readonly routes: readonly RouteDefinition[];
  /** The name of the session cookie. */
  readonly sessionCookie: string;
  /** Whether functions with `auth_required` also require a CSRF token. */
  readonly csrf: boolean;
  /** Whether bearer tokens are accepted. */
  readonly bearer: boolean;
}
