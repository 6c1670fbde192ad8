import { isBuiltin } from "node:module";
import type { DevEnvironment } from "vite";
import type { ModuleFacts } from "../modules/index.ts";
import { CompileError, findModuleReferences } from "../syntax/index.ts";

/** Returns the error message for an import of a Node module in browser code. */
export function nodeBuiltinMessage(specifier: string): string {
  return `"${specifier}" is a Node module, so browser code cannot import it. Use it in a server function and call that function.`;
}

/**
 * Returns whether an import of browser code refers to a module of Node. An installed package may have the name of one: it
 * then resolves to a file. A name that starts with `node:` never does.
 *
 * @param id what the specifier resolves to in the browser; `undefined` for a missing module
 */
export function isNodeModule(specifier: string, id: string | undefined): boolean {
  return specifier.startsWith("node:") || (isBuiltin(specifier) && !isFile(id));
}

/** Returns whether an id is a file, and not a placeholder of the bundler for a missing module. */
function isFile(id: string | undefined): boolean {
  return id !== undefined && (id.startsWith("/") || /^[a-z]:[\\/]/i.test(id));
}

/**
 * Rejects Node modules in a module that browsers load, while it is compiled for the server. On the server they work, so
 * the page would be rendered, and only the console of the browser would show why its views do not work.
 *
 * @param resolver.client the environment of browser code, which decides what a specifier resolves to
 * @throws CompileError at the specifier
 */
export async function checkNodeImports(
  { scopes, source }: ModuleFacts,
  { client }: { readonly client: Pick<DevEnvironment, "pluginContainer"> | undefined },
): Promise<void> {
  if (!client) return;
  for (const { specifier, at, kind, isType } of findModuleReferences(scopes)) {
    if (isType || kind === "url" || !isBuiltin(specifier)) continue;
    const isPrefixed = specifier.startsWith("node:"); // the plugin's resolver rejects it, without a location
    const id = isPrefixed ? undefined : (await client.pluginContainer.resolveId(specifier, source.file))?.id;
    if (isNodeModule(specifier, id)) throw new CompileError(nodeBuiltinMessage(specifier), source, at);
  }
}
