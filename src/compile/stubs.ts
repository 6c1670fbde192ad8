import { posix } from "node:path";
import type { Signature } from "../protocol/index.ts";
import { relativePath } from "./relative-path.ts";
import { isServerModule } from "./syntax/index.ts";

/** A server function that a server module re-exports under the same name. */
export interface ReExport {
  readonly name: string;
  /** The specifier of the re-export. */
  readonly source: string;
}

/**
 * Returns the code that replaces a server module in the browser: one stub per server function, with its name and
 * its parameter names. Nothing else of the module can leak, because the code is made from signatures and never
 * from the module's text. Types and file names of signatures are left out.
 */
export function emitStubs(functions: readonly Signature[], reExports: readonly ReExport[] = []): string {
  const used = new Set(functions.map(stubFactory));
  const lines = used.size > 0 ? [`import { ${[...used].sort().join(", ")} } from "tsweb/stub";`] : [];
  for (const signature of functions)
    lines.push(`export const ${signature.name} = /*#__PURE__*/ ${stubCall(signature)};`);
  for (const { name, source } of reExports) lines.push(`export { ${name} } from ${JSON.stringify(source)};`);
  return `${lines.join("\n") || "export {};"}\n`;
}

function stubFactory(signature: Signature): "stub" | "stream" {
  return signature.stream ? "stream" : "stub";
}

function stubCall(signature: Signature): string {
  const name = JSON.stringify(signature.name);
  if (signature.keyed) return `${stubFactory(signature)}(${name})`;
  return `${stubFactory(signature)}(${name}, ${JSON.stringify(signature.params.map((param) => param.name))})`;
}

/** The prefix of stub module ids in development. It keeps them apart from the server modules' own ids. */
const STUB_ID_PREFIX = "\0tsweb-stub:";

/**
 * Returns the id of a server module's stubs in development. It ends in `.js`, the language of stubs, and `..` is
 * replaced in it, because browsers normalize it away in URLs.
 */
export function stubId(file: string, root: string): string {
  return `${STUB_ID_PREFIX}${relativePath(file, root).replace(/(^|\/)\.\.(?=\/)/g, "$1_up_")}.js`;
}

/** Returns whether an id is that of stubs in development. */
export function isStubId(id: string): boolean {
  return id.startsWith(STUB_ID_PREFIX);
}

/** Returns the server module that an id of stubs stands for; `undefined` for any other id. */
export function serverModuleOfStub(id: string, root: string): string | undefined {
  if (!isStubId(id) || !id.endsWith(".js")) return undefined;
  const path = id.slice(STUB_ID_PREFIX.length, -".js".length).replace(/(^|\/)_up_(?=\/)/g, "$1..");
  const file = posix.join(root, path);
  return isServerModule(file) ? file : undefined;
}
