import { posix } from "node:path";
import MagicString from "magic-string";
import { closestName } from "../text/index.ts";
import type { StubUse } from "./build-registry.ts";
import {
  isEndpoint,
  isServerFunction,
  isServerModule,
  type ModuleFacts,
  type ModuleResolver,
  type ResolvedExport,
  relativePath,
  resolveExport,
  type ServedFunctions,
  serverOnlyFile,
  serverOnlyMessage,
} from "./modules/index.ts";
import { neededModules } from "./needed-modules.ts";
import { isNodeModule, nodeBuiltinMessage, serverNameMessage } from "./rules/index.ts";
import type { Compiled } from "./server-code.ts";
import {
  CompileError,
  declaredValue,
  findModuleReferences,
  isFunctionNode,
  type ModuleReference,
  type ReferencedName,
  type SourceRange,
} from "./syntax/index.ts";

/** The entry points of tsweb that browser code may import. All others are for the server only. */
const BROWSER_ENTRY_POINTS = new Set([
  "browser",
  "stub",
  "forms",
  "styles",
  "selects",
  "islands",
  "jsx-runtime",
  "jsx-dev-runtime",
]);

/** Returns whether a specifier is an entry point of tsweb for the server only. Errs towards yes. */
export function isServerEntryPoint(specifier: string): boolean {
  const [name, ...subpath] = specifier.replace(/[?#].*$/s, "").split("/");
  return name === "tsweb" && !BROWSER_ENTRY_POINTS.has(subpath.join("/"));
}

/** Returns the error message for an import of a server entry point in browser code. */
export function serverEntryPointMessage(specifier: string): string {
  return `"${specifier}" is a server entry point of tsweb, so browser code cannot import it. Import from "tsweb/browser", or use \`import type\` for a type.`;
}

/** Returns whether an id has a query that imports something else than the module, such as its text or URL. */
export function hasUnsupportedQuery(id: string): boolean {
  const query = /\?(.*?)(?:#|$)/s.exec(id)?.[1] ?? "";
  return query.split("&").some((part) => !/^(?:$|t=\d|v=|import$)/.test(part));
}

/** Returns the error message for an import of a server module with a query such as `?raw`. */
export function unsupportedQueryMessage(file: string, id: string): string {
  const query = id.slice(id.indexOf("?"));
  return `${file} is a server module, and its text must stay on the server, so it cannot be imported with "${query}". Import its server functions by name.`;
}

function describeServerFunctions({ functions }: ModuleFacts): string {
  const names = functions.map(({ name }) => name).join(", ");
  return names === "" ? "It declares none." : `Server functions that it declares: ${names}.`;
}

function onlyFunctionsMessage(file: string): string {
  return `${file} is a server module, and browser code can import only its server functions`;
}

/** Returns the error message for a form of import that loads more of a server module than named exports. */
function unsupportedImportMessage({ kind, names }: ModuleReference, file: string): string | undefined {
  switch (kind) {
    case "url":
      return `${file} is a server module, so it has no URL in the browser. Call one of its server functions.`;
    case "dynamic-import":
      return `${onlyFunctionsMessage(file)}. Import them by name with \`import { name } from …\`, which loads none of its code.`;
    case "require":
      return `${onlyFunctionsMessage(file)}. Import them by name: \`import { name } from …\`.`;
    case "export-all":
      return `${onlyFunctionsMessage(file)}. Export them by name: \`export { name } from …\`.`;
    case "import":
      return names.length > 0
        ? undefined
        : `${file} is a server module, so it never runs in the browser. Remove this import.`;
    case "export":
      return undefined;
  }
}

/** Returns what to do with an export of a server module that browser code needs, by what it is. */
function importAdvice(name: string, local: string | undefined, { scopes }: ModuleFacts): string {
  const binding = local === undefined ? undefined : scopes.module.findValue(local);
  const [node] = binding?.declarations ?? [];
  const value = node && declaredValue(node);
  if (value && isFunctionNode(value)) {
    const parameters = value.params.length > 0 ? "(…)" : "()";
    return `To call it from the browser, wrap it in server(): \`export const ${name} = server(async ${parameters} => …)\`.`;
  }
  const type = binding?.kind === "class" ? "If only its type is needed, use `import type`. Otherwise move" : "Move";
  return `${type} it to a file without ".server" in its path, which both sides import and browsers may receive.`;
}

function isQuery({ facts, name }: ResolvedExport): boolean {
  return facts.queries.some((query) => query.name === name);
}

/** Returns the error message for an import of a query: it has no address, so that a browser cannot choose its arguments. */
function queryMessage(name: string, path: string): string {
  return (
    `"${name}" is a query of ${path}, which browsers cannot call. Pass \`await ${name}.live(…)\` from the page as a prop, or return ` +
    'it from a server function, and call `live(props.…)` of "tsweb/browser" here.'
  );
}

/** The imports of a browser module from server modules. */
export interface BrowserImports {
  /** The module without imports that refer to types only. Absent when nothing was removed. */
  readonly compiled?: Compiled;
  readonly stubs: readonly StubUse[];
  /** The server modules that it imports. */
  readonly serverModules: readonly string[];
}

/**
 * Reads the imports of a module of the browser build. From a server module it may import server functions, by
 * name, and types.
 *
 * @param readServed reads which server functions the application serves; `undefined` when its source does not show it
 * @throws CompileError at the import that is rejected
 */
export async function readBrowserImports(
  facts: ModuleFacts,
  resolver: ModuleResolver,
  readServed?: () => Promise<ServedFunctions | undefined>,
): Promise<BrowserImports> {
  const check = new BrowserImportCheck(facts, resolver, readServed ?? (async () => undefined));
  const removed: SourceRange[] = [];
  for (const reference of findModuleReferences(facts.scopes)) {
    if (!reference.isType) await check.checkReference(reference);
    else if (reference.leavesImport && (await check.isServerOnly(reference))) removed.push(reference.node);
  }
  const stubs = check.stubs;
  const serverModules = [...check.serverModules];
  const added = await neededModules(facts, resolver);
  if (removed.length === 0 && added.length === 0) return { stubs, serverModules };
  const text = new MagicString(facts.source.code);
  for (const { start, end } of removed) text.remove(start, end);
  // At the end, where it moves no position of the module. Imports run first anyway.
  for (const specifier of added) text.append(`\nimport "${specifier}";`);
  const map = text.generateMap({ source: facts.source.file, includeContent: true, hires: "boundary" });
  return { stubs, serverModules, compiled: { code: text.toString(), map } };
}

class BrowserImportCheck {
  readonly stubs: StubUse[] = [];
  readonly serverModules = new Set<string>();
  private readonly facts: ModuleFacts;
  private readonly resolver: ModuleResolver;
  private readonly readServed: () => Promise<ServedFunctions | undefined>;
  private servedFunctions: Promise<ServedFunctions | undefined> | undefined;

  constructor(facts: ModuleFacts, resolver: ModuleResolver, readServed: () => Promise<ServedFunctions | undefined>) {
    this.facts = facts;
    this.resolver = resolver;
    this.readServed = readServed;
  }

  /** Returns whether a reference is to a server entry point of tsweb or to a server module. */
  async isServerOnly(reference: ModuleReference): Promise<boolean> {
    if (isServerEntryPoint(reference.specifier)) return true;
    const id = await this.resolve(reference);
    return id !== undefined && this.serverOnlyFile(reference, id) !== undefined;
  }

  async checkReference(reference: ModuleReference): Promise<void> {
    const { specifier, at, kind } = reference;
    if (kind !== "url" && isServerEntryPoint(specifier)) this.rejectServerEntryPoint(reference);
    const id = specifier.startsWith("node:") ? undefined : await this.resolve(reference);
    if (kind !== "url" && isNodeModule(specifier, id)) this.reject(nodeBuiltinMessage(specifier), at);
    const file = id && this.serverOnlyFile(reference, id);
    if (!file) return;
    if (!isServerModule(file, this.resolver.root)) {
      this.reject(serverOnlyMessage(this.relativePath(file), `cannot be imported as "${specifier}"`), at);
    }
    this.serverModules.add(file);
    this.checkForm(reference, { id, file });
    for (const name of reference.names) if (!name.isType) await this.checkName(name, file);
  }

  private rejectServerEntryPoint({ specifier, at, names }: ModuleReference): never {
    for (const name of specifier === "tsweb" ? names : []) {
      const message = name.isType ? undefined : serverNameMessage(name.name);
      if (message) this.reject(message, name.at);
    }
    this.reject(serverEntryPointMessage(specifier), at);
  }

  /** Rejects the forms of import that load more than named exports. */
  private checkForm(reference: ModuleReference, { id, file }: { id: string; file: string }): void {
    const path = this.relativePath(file);
    if (hasUnsupportedQuery(id)) this.reject(unsupportedQueryMessage(path, id), reference.at);
    const message = unsupportedImportMessage(reference, path);
    if (message) this.reject(message, reference.kind === "import" ? reference.node : reference.at);
  }

  private async checkName(imported: ReferencedName, file: string): Promise<void> {
    const path = this.relativePath(file);
    if (imported.name === "*")
      this.reject(`${onlyFunctionsMessage(path)}. Import them by name: \`import { name } from …\`.`, imported.at);
    if (imported.name === "default") {
      this.reject(
        `${path} is a server module, and server functions are named exports. Import them by name: \`import { name } from …\`.`,
        imported.at,
      );
    }
    const facts = await this.resolver.read(file);
    // Mistakes of the server module itself are reported when its stubs are loaded. They may hide a function.
    if (!facts || facts.mistakes.length > 0) return;
    const resolved = await resolveExport(file, imported.name, this.resolver);
    if (resolved && isEndpoint(resolved, imported.name)) return; // for links
    if (resolved && isQuery(resolved)) {
      return this.reject(queryMessage(imported.name, this.relativePath(resolved.facts.source.file)), imported.at);
    }
    if (!resolved || !isServerFunction(resolved, imported.name)) {
      return this.reject(this.notImportableMessage(imported.name, facts, resolved !== undefined), imported.at);
    }
    const declaredIn = resolved.facts.source.file;
    this.servedFunctions ??= this.readServed();
    const served = await this.servedFunctions;
    if (served && !(await served.has(declaredIn, imported.name))) {
      this.reject(
        `"${imported.name}" is a server function of ${this.relativePath(declaredIn)}, which the application does not serve. Add that module to \`modules\` in ${served.entry}.`,
        imported.at,
      );
    }
    this.stubs.push({
      file: this.relativePath(declaredIn),
      name: imported.name,
      importer: this.relativePath(this.facts.source.file),
    });
  }

  private notImportableMessage(name: string, facts: ModuleFacts, isResolved: boolean): string {
    const path = this.relativePath(facts.source.file);
    const entry = facts.exports.named.find((exported) => exported.name === name);
    const declaration = facts.declarations.find((candidate) => candidate.name === name);
    if (entry?.isType) return `"${name}" is a type. Import it with \`import type { ${name} }\`.`;
    if (declaration && declaration.kind !== "server") {
      return `"${name}" is a ${declaration.kind} of ${path} whose path is not written as text, so browser code cannot link to it. Write its path as text.`;
    }
    if (entry?.from && isResolved && entry.from.name !== name) {
      return `"${name}" is "${entry.from.name}" under another name, but a server function has one name. Import "${entry.from.name}".`;
    }
    if (!entry) {
      const names = facts.functions.map((declared) => declared.name);
      const meant = closestName(name, names);
      const advice = meant ? `Did you mean "${meant}"? ` : "";
      return `${path} exports no server function "${name}". ${advice}${describeServerFunctions(facts)}`;
    }
    const problem = `"${name}" of ${path} is not a server function, and browser code can import nothing else of a server module.`;
    return `${problem} ${importAdvice(name, entry.local, facts)}`;
  }

  private async resolve({ kind, specifier }: ModuleReference): Promise<string | undefined> {
    const importer = this.facts.source.file;
    const id = await this.resolver.resolve(specifier, importer);
    if (kind !== "url" || id) return id;
    // A URL is relative to its module, with or without a leading dot.
    return posix.resolve(
      posix.dirname(importer),
      specifier.startsWith("/") ? `${this.resolver.root}${specifier}` : specifier,
    );
  }

  private serverOnlyFile({ specifier }: ModuleReference, id: string): string | undefined {
    return serverOnlyFile({ specifier, importer: this.facts.source.file, id }, this.resolver.root);
  }

  private relativePath(file: string): string {
    return relativePath(file, this.resolver.root);
  }

  private reject(message: string, at: SourceRange): never {
    throw new CompileError(message, this.facts.source, at);
  }
}
