import { posix } from "node:path";
import type { Signature } from "../protocol/index.ts";
import { relativeFile } from "./module.ts";
import { isServerModule } from "./parse.ts";

/** A server function that another server module hands on under its own name. */
export interface HandedOn {
  readonly name: string;
  /** What the stub module imports it from. */
  readonly source: string;
}

/**
 * Writes what the browser gets in place of a server module: a stub for each server function, with its
 * name and the names of its parameters. Nothing else of the module is in it, by construction: this
 * sees signatures alone, and of them neither types nor files.
 */
export function emitStubs(functions: readonly Signature[], handedOn: readonly HandedOn[] = []): string {
  const used = new Set(functions.map(maker));
  const lines = used.size > 0 ? [`import { ${[...used].sort().join(", ")} } from "tsweb/stub";`] : [];
  for (const each of functions) lines.push(`export const ${each.name} = /*#__PURE__*/ ${call(each)};`);
  for (const { name, source } of handedOn) lines.push(`export { ${name} } from ${JSON.stringify(source)};`);
  return `${lines.join("\n") || "export {};"}\n`;
}

function maker(signature: Signature): "stub" | "stream" {
  return signature.stream ? "stream" : "stub";
}

function call(signature: Signature): string {
  const name = JSON.stringify(signature.name);
  if (signature.keyed) return `${maker(signature)}(${name})`;
  return `${maker(signature)}(${name}, ${JSON.stringify(signature.params.map((param) => param.name))})`;
}

/** What the addresses of stub modules in development begin with: they are no server module's own. */
const PREFIX = "\0tsweb-stub:";

/**
 * Gives the id under which the browser imports the stubs of a server module in development. It ends in
 * `.js`, since that is what is in it, and holds no `..`, which a browser would resolve away.
 */
export function stubId(file: string, root: string): string {
  return `${PREFIX}${relativeFile(file, root).replace(/(^|\/)\.\.(?=\/)/g, "$1_up_")}.js`;
}

/** Answers whether an id stands for the stubs of a server module in development. */
export function isStubId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** Gives the server module whose stubs an id stands for; `undefined` for any other id. */
export function stubbedFile(id: string, root: string): string | undefined {
  if (!isStubId(id) || !id.endsWith(".js")) return undefined;
  const named = id.slice(PREFIX.length, -".js".length).replace(/(^|\/)_up_(?=\/)/g, "$1..");
  const file = posix.join(root, named);
  return isServerModule(file) ? file : undefined;
}
