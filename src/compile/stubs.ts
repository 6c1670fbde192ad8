import { posix } from "node:path";
import { type Signature, takesFiles } from "../protocol/index.ts";
import { type Declaration, type Endpoint, isServerModule, type ReExport, relativePath } from "./modules/index.ts";
import { keyName, type Node, unwrapExpression } from "./syntax/index.ts";

/**
 * Returns the code that replaces a server module in the browser: one stub per server function, with its name and
 * its parameter names, and one per page and route, with its path. Nothing else of the module can leak, because the code is made
 * from signatures and paths and never from the module's text. Types and file names of signatures are left out.
 *
 * @param hashOf returns the hash of a signature, which calls carry; `undefined` in development
 */
export function emitStubs(
  { functions, endpoints = [], declarations = [] }: StubbedExports,
  reExports: readonly ReExport[] = [],
  hashOf: HashOf = () => undefined,
): string {
  const withKeys = new Set(declarations.filter(mayBeIdempotent).map(({ name }) => name));
  const used = new Set<StubImport>(functions.map((signature) => stubFactory(signature, withKeys)));
  if (functions.some(takesFiles)) used.add("upload");
  if (endpoints.length > 0) used.add("link");
  const stubs = [...functions, ...endpoints];
  const names = localNames(stubs);
  const specifiers = [...used].sort().map((name) => (names[name] === name ? name : `${name} as ${names[name]}`));
  const lines = used.size > 0 ? [`import { ${specifiers.join(", ")} } from "tsweb/stub";`] : [];
  for (const [index, exported] of stubs.entries()) {
    const { name } = exported;
    const isLink = "pattern" in exported;
    const call = isLink
      ? `${names.link}(${JSON.stringify(exported.pattern)})`
      : stubCall(exported, names[stubFactory(exported, withKeys)], { hash: hashOf(exported), upload: names.upload });
    const value = `/*#__PURE__*/ ${call}`;
    if (isVariableName(name)) lines.push(`export const ${name} = ${value};`);
    else lines.push(`const $${index} = ${value};`, `export { $${index} as ${name} };`);
  }
  for (const { name, source } of reExports) lines.push(`export { ${name} } from ${JSON.stringify(source)};`);
  return `${lines.join("\n") || "export {};"}\n`;
}

/** The exports of a server module that have stubs. */
interface StubbedExports {
  readonly functions: readonly Signature[];
  readonly endpoints?: readonly Pick<Endpoint, "name" | "pattern">[];
  /** The declarations of the functions. */
  readonly declarations?: readonly Declaration[];
}

/** The words that name no variable of a module, but may name an export: `export { remove as delete }`. */
const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
    "finally for function if implements import in instanceof interface let new null package private protected public return " +
    "static super switch this throw true try typeof var void while with yield"
  ).split(" "),
);

/** Returns whether the variable of a stub can have the name of its export. `$0` and the like are taken by those that cannot. */
function isVariableName(name: string): boolean {
  return !RESERVED.has(name) && !/^\$\d+$/.test(name);
}

/** Returns the hash of a function's signature, as the server's build has it; `undefined` if it has none. */
export type HashOf = (signature: Pick<Signature, "file" | "name">) => string | undefined;

type StubImport = "stub" | "idempotent" | "stream" | "upload" | "link";

/** Returns the local names of the imports: other ones than those of the functions, of which one may be `upload`. */
function localNames(exported: readonly { readonly name: string }[]): Readonly<Record<StubImport, string>> {
  const taken = new Set(exported.map(({ name }) => name));
  const freeName = (name: string): string => (taken.has(name) ? freeName(`${name}_`) : name);
  return {
    ...{ stub: freeName("stub"), idempotent: freeName("idempotent"), stream: freeName("stream") },
    ...{ upload: freeName("upload"), link: freeName("link") },
  };
}

function stubFactory(signature: Signature, withKeys: ReadonlySet<string>): "stub" | "idempotent" | "stream" {
  if (signature.stream) return "stream";
  // An idempotent function takes no files.
  return withKeys.has(signature.name) && !takesFiles(signature) ? "idempotent" : "stub";
}

/** Returns whether a function can have the option `idempotent`: also if its options are not written in the call. */
function mayBeIdempotent({ kind, call }: Declaration): boolean {
  if (kind !== "server" || call.arguments.length < 2) return false;
  const options = unwrapExpression(call.arguments[0] as Node);
  if (options.type !== "ObjectExpression") return true;
  return options.properties.some((property) => {
    if (property.type === "SpreadElement") return true;
    return [undefined, "idempotent"].includes(keyName(property));
  });
}

function stubCall(
  signature: Signature,
  factory: string,
  { hash, upload }: { readonly hash: string | undefined; readonly upload: string },
): string {
  const params = signature.keyed ? undefined : JSON.stringify(signature.params.map((param) => param.name));
  const args = [JSON.stringify(signature.name), params, JSON.stringify(hash)];
  if (takesFiles(signature)) args.push(upload);
  while (args.at(-1) === undefined) args.pop();
  return `${factory}(${args.map((arg) => arg ?? "undefined").join(", ")})`;
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
  return isServerModule(file, root) ? file : undefined;
}
