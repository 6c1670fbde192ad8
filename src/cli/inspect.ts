/** `tsweb routes` and `tsweb openapi`: commands that load an application, print what it serves, and serve nothing. */
import { createServer, isRunnableDevEnvironment, type Plugin } from "vite";
import { compileStep } from "../compile/index.ts";
import { openapi } from "../openapi/index.ts";
import { type Parameter, RPC_PREFIX } from "../protocol/index.ts";
import { type CheckCoverage, checkCoverage, type FunctionDefinition, uncheckedParts } from "../rpc/index.ts";
import { formatLocation, type Inspection, internalsOf } from "../server/index.ts";
import { BuildError, EnvFiles, findEntry, noApplicationError, projectInfo } from "./project/index.ts";

/**
 * Prints everything that an application serves.
 *
 * @param root the application's folder
 */
export async function printRoutes(root: string): Promise<void> {
  printAndExit(routesText(await loadApp(root)));
}

/**
 * Prints the OpenAPI document of an application's functions.
 *
 * @param root the application's folder
 */
export async function printOpenApi(root: string): Promise<void> {
  const document = openapi(await loadApp(root), projectInfo(root));
  printAndExit(`${JSON.stringify(document, null, 2)}\n`);
}

/**
 * Loads the application of a folder, compiled and with the variables of development, and returns its functions, pages
 * and routes. It handles no request.
 *
 * What its modules write with `console.log` while they load goes to standard error: standard output is for the
 * command's result.
 *
 * @throws BuildError when there is no application in the folder
 */
async function loadApp(root: string): Promise<Inspection> {
  const entry = findEntry(root);
  process.chdir(root);
  new EnvFiles(root, process.env).load();
  process.env.WEB_ENV ??= "development";
  console.log = console.error;
  console.info = console.error;
  const vite = await createServer({
    root,
    appType: "custom",
    envDir: false,
    envPrefix: [],
    logLevel: "error",
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    plugins: [compileStep({ entry }).plugins, bundleNoPackages()],
  });
  try {
    const { ssr } = vite.environments;
    if (!isRunnableDevEnvironment(ssr)) {
      throw new BuildError(
        "The project's Vite config replaces the ssr environment, which loads the application's modules. Remove " +
          "environments.ssr.dev.createEnvironment from it.",
      );
    }
    const module: { default?: unknown } = await ssr.runner.import(entry);
    const internals = internalsOf(module.default);
    if (!internals) throw noApplicationError(root, entry);
    return internals.inspection;
  } finally {
    await vite.close();
  }
}

/**
 * Prevents that packages are bundled for browsers, which these commands do not serve. The bundles would replace those of a
 * `tsweb dev` that runs in the same folder, whose pages would then fail with "Outdated Optimize Dep".
 */
function bundleNoPackages(): Plugin {
  return {
    name: "tsweb:bundle-no-packages",
    enforce: "post",
    // Vite merges what the hook returns into the lists of others, so the option is replaced here.
    config(config) {
      config.optimizeDeps = { noDiscovery: true, include: [] };
    },
  };
}

/** Writes a command's result and exits, even when the application keeps the process alive, for example by a database. */
function printAndExit(text: string): void {
  process.stdout.write(text, () => process.exit(0));
}

/** The mark of a parameter, by how much of it is checked. */
const COVERAGE_MARKS: Readonly<Record<CheckCoverage, string>> = { full: "", partial: "~", none: "*" };

const UNCHECKED = `  ${COVERAGE_MARKS.none} Not checked: the function receives any value that a caller sends. Annotate it int, float, number or boolean,
    validate it with a schema, server({ validate }, …), or check it in the function.`;

const STRICT_HINT = " new App({ strict: true }) checks more types.";

const PARTLY_CHECKED = `  ${COVERAGE_MARKS.partial} These parts are not checked:`;

const NO_ENTRIES = `The application serves no pages, routes and functions: its modules declare none. Import each module that declares some
in the application module, and list it in new App:

  import * as pages from "./pages.server.tsx";

  export default new App({ modules: [pages] });
`;

/** Lists pages, routes and functions, and marks every parameter that is not checked, or only partly. */
export function routesText(app: Inspection): string {
  const { base, pages, routes, functions } = app;
  const text = [
    section(
      "Pages",
      pages.map((page) => [`GET     ${base}${page.path}`, formatLocation(page.source)]),
    ),
    section(
      "Routes",
      routes.map((route) => [`${route.method.padEnd(8)}${base}${route.path}`, formatLocation(route.source)]),
    ),
    section(
      `Functions, each a POST to ${base}${RPC_PREFIX}<name>`,
      functions.map((definition) => [describeFunction(definition, app), formatLocation(definition.signature)]),
    ),
    legend(app),
  ];
  return text.filter((part) => part !== "").join("\n") || NO_ENTRIES;
}

function legend(app: Inspection): string {
  const parameters = app.functions.flatMap((definition) =>
    definition.signature.params.map((parameter) => ({
      parameter,
      signature: definition.signature,
      coverage: coverageOf(parameter, definition, app),
    })),
  );
  const parts = parameters
    .filter(({ coverage }) => coverage === "partial")
    .flatMap(({ parameter, signature }) =>
      uncheckedParts(parameter, signature).map((part) => `    ${signature.name}: ${part}`),
    );
  const lines = [
    ...(parameters.some(({ coverage }) => coverage === "none") ? [UNCHECKED + (app.strict ? "" : STRICT_HINT)] : []),
    ...(parts.length > 0 ? [PARTLY_CHECKED, ...parts] : []),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function section(title: string, rows: readonly (readonly [entry: string, location: string])[]): string {
  if (rows.length === 0) return "";
  const width = Math.min(MAX_COLUMN_CHARS, Math.max(...rows.map(([entry]) => entry.length)));
  return `${title}\n${rows.map(([entry, location]) => `  ${entry.padEnd(width)}  ${location}\n`).join("")}`;
}

/** Longer rows move only their own location to the right, and not those of all others. */
const MAX_COLUMN_CHARS = 72;

function describeFunction(definition: FunctionDefinition, app: Inspection): string {
  const { signature, options } = definition;
  const list = signature.params.map((parameter) => describeParameter(parameter, definition, app)).join(", ");
  const params = signature.keyed ? `{ ${list} }` : list;
  const notes = [...(signature.stream ? ["stream"] : []), ...(options.auth_required ? ["auth_required"] : [])];
  return `${signature.name}(${params})${notes.length > 0 ? `  (${notes.join(", ")})` : ""}`;
}

function describeParameter(parameter: Parameter, definition: FunctionDefinition, app: Inspection): string {
  const { name, type, optional, annotation } = parameter;
  const shownType = annotation || (type === "any" ? "" : type);
  const mark = COVERAGE_MARKS[coverageOf(parameter, definition, app)];
  return `${name}${optional ? "?" : ""}${shownType ? `: ${shownType}` : ""}${mark}`;
}

function coverageOf(
  parameter: Parameter,
  { options, signature }: FunctionDefinition,
  { strict }: Inspection,
): CheckCoverage {
  return Object.hasOwn(options.validate ?? {}, parameter.name) ? "full" : checkCoverage(parameter, signature, strict);
}
