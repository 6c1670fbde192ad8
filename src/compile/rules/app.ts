import { closestName } from "../../text/index.ts";
import { appModuleElements, appOptions, importedNameOf, type ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  constantValue,
  keyName,
  type Node,
  nodesOf,
  type Scope,
  stringValue,
  unwrapExpression,
} from "../syntax/index.ts";

/** The options of `new App`. A test compares them with its type. */
export const APP_OPTIONS: readonly string[] = [
  ...["modules", "title", "lang", "base", "layout", "error", "sign_in", "prefetch", "transitions", "session"],
  ...["authenticate", "before", "rate"],
  ...["rpc_timeout", "max_body", "strict", "policy", "headers", "log", "on_error", "on_start", "on_stop", "env"],
];

/** What replaces the options of other frameworks. */
const OPTION_ADVICE: Readonly<Record<string, string>> = {
  middleware: "For code that runs before every request, set `before`.",
  port: "Set the environment variable PORT.",
  host: "Set the environment variable HOST.",
  pages: "List the modules with pages in `modules`.",
  routes: "List the modules with routes in `modules`.",
  secret: "Set the environment variable WEB_AUTH_SECRET.",
  plugins: "Plugins of Vite belong into vite.config.ts.",
  public: "Files in the folder `public` are served without an option.",
};

/**
 * Rejects options that `new App` does not have, and paths of modules in place of modules. A build does not run the application,
 * so that only its start would report them.
 *
 * @throws CompileError at the option or the path
 */
export function checkAppOptions(facts: ModuleFacts): void {
  for (const option of appOptions(facts)) {
    const name = keyName(option);
    if (name === undefined || APP_OPTIONS.includes(name)) continue;
    throw new CompileError(`Unknown option ${name} in new App. ${fixOf(name)}`, facts.source, option.key);
  }
  for (const { element } of appModuleElements(facts)) checkIsNoPath(element, facts);
}

function fixOf(name: string): string {
  if (Object.hasOwn(OPTION_ADVICE, name)) return `${OPTION_ADVICE[name]}`;
  const meant = closestName(name, APP_OPTIONS);
  return meant === undefined ? `Valid options: ${APP_OPTIONS.join(", ")}.` : `Did you mean ${meant}?`;
}

function checkIsNoPath(element: Node, { source }: ModuleFacts): void {
  const path = stringValue(element);
  if (path === undefined) return;
  throw new CompileError(
    `\`modules\` lists modules, and this is a path. Import the module: \`import * as pages from ${JSON.stringify(path)}\`, and list ` +
      "`pages`.",
    source,
    element,
  );
}

const ROUTE = "Declare `page(path, …)` or `route(…)` in a server module, and list the module in `modules` of new App.";

/** The methods of Express, Fastify and Hono that an `App` does not have, with what to write. */
const METHOD_ADVICE: ReadonlyMap<string, string> = new Map([
  [
    "listen",
    "Remove this call: `tsweb dev`, `tsweb serve` and `node dist/server.mjs` listen, on the port in the environment " +
      "variable PORT (by default 3000). To run the application in a server of your own, use `node(app)` of tsweb/node.",
  ],
  ["use", "For code that runs before every request, set the option `before` of new App."],
  ...["all", "delete", "get", "options", "patch", "post", "put", "route"].map((name) => [name, ROUTE] as const),
]);

/**
 * Rejects calls of methods that the applications of other frameworks have, such as `app.listen(3000)`, on an `App` that is
 * created in the module.
 *
 * @throws CompileError at the first call
 */
export function checkAppCalls({ scopes, source }: ModuleFacts): void {
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const callee = unwrapExpression(node.callee);
    if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") continue;
    const { name } = callee.property;
    const advice = METHOD_ADVICE.get(name);
    if (advice === undefined || !isApp(unwrapExpression(callee.object), scope)) continue;
    throw new CompileError(`An App has no ${name}(). ${advice}`, source, callee.property);
  }
}

/** Returns whether an expression is `new App(…)`, or a constant with this value. */
function isApp(node: Node, scope: Scope): boolean {
  if (node.type === "NewExpression") {
    const created = importedNameOf(unwrapExpression(node.callee), scope);
    return created?.source === "tsweb" && created.name === "App";
  }
  const binding = node.type === "Identifier" ? scope.findValue(node.name) : undefined;
  const value = constantValue(binding);
  return binding !== undefined && value?.type === "NewExpression" && isApp(value, binding.scope);
}
