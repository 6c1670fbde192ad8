import { closestName } from "../../text/index.ts";
import { appModuleElements, appOptions, type ModuleFacts } from "../modules/index.ts";
import { CompileError, type Node, stringValue } from "../syntax/index.ts";

/** The options of `new App`. A test compares them with its type. */
export const APP_OPTIONS: readonly string[] = [
  ...["modules", "title", "lang", "base", "layout", "error", "sign_in", "prefetch", "transitions", "session"],
  ...["authenticate", "before", "rate"],
  ...["rpc_timeout", "max_body", "strict", "policy", "headers", "log", "on_error", "on_start", "on_stop", "env"],
];

/** What replaces the options of other frameworks. */
const ADVICE: Readonly<Record<string, string>> = {
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
  for (const { key, computed } of appOptions(facts)) {
    const name = key.type === "Identifier" && !computed ? key.name : stringValue(key);
    if (name === undefined || APP_OPTIONS.includes(name)) continue;
    throw new CompileError(`Unknown option ${name} in new App. ${fixOf(name)}`, facts.source, key);
  }
  for (const { element } of appModuleElements(facts)) checkIsNoPath(element, facts);
}

function fixOf(name: string): string {
  if (Object.hasOwn(ADVICE, name)) return `${ADVICE[name]}`;
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
