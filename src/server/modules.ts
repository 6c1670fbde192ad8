import { type PageDefinition, pageOf, type RouteDefinition, routeOf } from "../pages/index.ts";
import { definitionOf, type FunctionDefinition } from "../rpc/index.ts";

/** A module of an application: `import * as accounts from "./accounts.server.ts"`. */
export type Module = Readonly<Record<string, unknown>>;

/** What the listed modules serve. */
export interface Listing {
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  readonly pages: readonly PageDefinition[];
  readonly routes: readonly RouteDefinition[];
}

/**
 * Gathers what the modules of an application serve.
 *
 * @throws Error for two functions of one name or two pages or routes of one address, naming both files; for a
 *   function exported under another name than it was compiled with; for a module that serves nothing
 */
export function listModules(modules: readonly Module[]): Listing {
  const functions = new Map<string, FunctionDefinition>();
  const addresses = new Map<string, PageDefinition | RouteDefinition>();
  modules.forEach((module, index) => {
    let serves = 0;
    for (const [name, value] of Object.entries(module)) {
      const definition = definitionOf(value);
      const address = pageOf(value) ?? routeOf(value);
      if (definition) addFunction(functions, name, definition);
      if (address) addAddress(addresses, address);
      if (definition || address) serves++;
    }
    if (serves === 0) {
      const names = Object.keys(module).join(", ") || "nothing at all";
      throw new Error(
        `new App: modules[${index}] serves nothing; it exports ${names}. List modules that export server functions, ` +
          'pages or routes, whole: import * as pages from "./pages.server.tsx".',
      );
    }
  });
  const all = [...addresses.values()];
  return {
    functions,
    pages: all.filter((each) => each.kind === "page"),
    routes: all.filter((each) => each.kind === "route"),
  };
}

function addFunction(
  functions: Map<string, FunctionDefinition>,
  exported: string,
  definition: FunctionDefinition,
): void {
  const { name, file } = definition.signature;
  if (exported !== name) {
    throw new Error(
      `new App: ${name} of ${file} is exported again as ${exported}. A function is called by one name: ` +
        `export it as ${name}, or not at all.`,
    );
  }
  const earlier = functions.get(name);
  if (earlier && earlier !== definition) {
    throw new Error(
      `new App: two server functions are named ${name}, in ${place(earlier.signature)} and in ` +
        `${place(definition.signature)}. Rename one of them.`,
    );
  }
  functions.set(name, definition);
}

function addAddress(
  addresses: Map<string, PageDefinition | RouteDefinition>,
  added: PageDefinition | RouteDefinition,
): void {
  // A page is read with GET: a route for that method and path would never be reached, or the page.
  const method = added.kind === "page" ? "GET" : added.method;
  const address = `${method} ${added.path}`;
  // What a parameter is called makes no other path of it.
  const key = `${method} ${added.path.replace(/:[A-Za-z_]\w*/g, ":")}`;
  const earlier = addresses.get(key);
  if (earlier && earlier !== added) {
    throw new Error(
      `new App: ${address} is declared twice, as a ${earlier.kind} in ${place(earlier.source)} and as a ` +
        `${added.kind} in ${place(added.source)}.`,
    );
  }
  addresses.set(key, added);
}

/** A server function that the browser's code calls. */
export interface CalledFunction {
  readonly name: string;
  readonly file: string;
  readonly importer: string;
}

/**
 * Holds the browser's code to the list: what it calls is served.
 *
 * @throws Error that names the function that no listed module serves
 */
export function checkCalledFunctions(
  called: readonly CalledFunction[],
  { functions }: Pick<Listing, "functions">,
): void {
  for (const { name, file, importer } of called) {
    if (functions.get(name)?.signature.file === file) continue;
    throw new Error(
      `${importer} calls ${name} of ${file}, which no listed module serves. Add that module to the modules of new App.`,
    );
  }
}

function place({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${file}:${line}`;
}
