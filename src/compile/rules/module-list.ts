import type { ESTree } from "vite";
import {
  appModuleElements,
  appModuleValues,
  locationIn,
  type ModuleFacts,
  type ModuleResolver,
  readModuleList,
  readServedFunctions,
  relativePath,
  repeatedPathMessage,
  resolveExport,
} from "../modules/index.ts";
import { CompileError, declaredValue, isFunctionNode, type Node, nodesOf } from "../syntax/index.ts";
import { findBrowserImport, importsOf, type ListedModules, readListedModules } from "./listed-modules.ts";
import type { ViteRuleResolver } from "./rule.ts";

/**
 * Checks the modules of the application, in its own module.
 *
 * @returns warnings
 * @throws CompileError for a mistake in its list of modules, and for two functions with the same name
 */
export async function checkApplicationModules(entry: ModuleFacts, resolver: ModuleResolver): Promise<string[]> {
  await checkModuleList(entry, resolver);
  await readServedFunctions(entry, resolver);
  return [...(await unlistedModules(entry, resolver)), ...(await unusedMiddleware(entry, resolver))];
}

/**
 * Checks the list of modules in the application's own module.
 *
 * @throws CompileError at a value that is not an array, and at an element that is not the namespace of a module, or whose module serves nothing
 */
export async function checkModuleList(entry: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  for (const value of appModuleValues(entry)) checkIsList(value, entry);
  for (const { element, imported } of appModuleElements(entry)) {
    if (!imported) continue;
    const id = await resolver.resolve(imported.source, entry.source.file);
    const facts = await resolver.read(id);
    if (!facts) continue;
    const file = relativePath(facts.source.file, resolver.root);
    const namespace = `\`import * as ${entry.source.code.slice(element.start, element.end)} from "${imported.source}"\``;
    if (imported.name !== "*") {
      if (!(await isSingleExport(id, imported.name, resolver))) continue;
      const form = imported.name === "default" ? "the default export" : `"${imported.name}"`;
      throw new CompileError(
        `\`modules\` lists whole modules, and this is ${form} of ${file}. Import the module as a namespace: ${namespace}.`,
        entry.source,
        element,
      );
    }
    // checkListedModule reports server modules, where the mistake is.
    if (!facts.isServerModule && servesNothing(facts))
      throw new CompileError(servesNothingMessage(facts, file), entry.source, element);
  }
}

/** Rejects one module, and an object of modules, in place of a list. */
function checkIsList(value: Node, { scopes, source }: ModuleFacts): void {
  const local = value.type === "Identifier" ? value.name : undefined;
  const isModule = local !== undefined && scopes.module.findValue(local)?.imported?.name === "*";
  if (!isModule && value.type !== "ObjectExpression") return;
  const names = value.type === "ObjectExpression" ? shorthandNames(value) : [local];
  throw new CompileError(
    `\`modules\` must be a list, and this is ${isModule ? "one module" : "an object"}. Write \`modules: [${names.join(", ") || "…"}]\`.`,
    source,
    value,
  );
}

/** Returns the names in an object such as `{ guests, pages }`; none if it has anything else. */
function shorthandNames({ properties }: ESTree.ObjectExpression): string[] {
  const names = properties.flatMap((property) =>
    property.type === "Property" && property.shorthand && property.key.type === "Identifier" ? [property.key.name] : [],
  );
  return names.length === properties.length ? names : [];
}

/** Returns whether an export is certainly not a module: it does not exist, or is a page, a route, a function, a query or a view. */
async function isSingleExport(id: string | undefined, name: string, resolver: ModuleResolver): Promise<boolean> {
  const origin = await resolveExport(id, name, resolver);
  if (!origin) {
    const facts = await resolver.read(id);
    return name === "default" && facts !== undefined && !facts.exports.named.some((exported) => exported.name === name);
  }
  return origin.facts.declarations.some((declaration) => declaration.name === origin.name);
}

/** Returns whether a module certainly exports no page, route, server function or query. When unsure, it returns `false`. */
function servesNothing({ declarations, mistakes, exports, scopes, program }: ModuleFacts): boolean {
  if (declarations.length + mistakes.length > 0 || exports.starExports.length > 0) return false;
  return exports.named.every(({ isType, from, local }) => {
    if (isType) return true;
    if (from) return false;
    const nodes: readonly Node[] =
      local === undefined
        ? program.body.flatMap((node) => (node.type === "ExportDefaultDeclaration" ? [node.declaration] : []))
        : (scopes.module.findValue(local)?.declarations ?? []);
    return nodes.length > 0 && nodes.every(isFunctionOrClass);
  });
}

function isFunctionOrClass(node: Node): boolean {
  const value = declaredValue(node);
  return value !== undefined && (isFunctionNode(value) || /^(?:ClassDeclaration|Literal)$/.test(value.type));
}

/** @param called a function of the module that a view imports, and the file of the view */
function servesNothingMessage(
  { exports, source }: ModuleFacts,
  file: string,
  called?: { name: string; file: string },
): string {
  const names = exports.named.filter(({ isType }) => !isType).map(({ name }) => name);
  const problem = `${file} serves nothing: it exports ${names.join(", ") || "nothing"}, but no page(), route(), server() or query().`;
  if (called && names.includes(called.name))
    return `${problem} ${called.file} imports ${called.name}: wrap it in server(), as in \`export const ${called.name} = server((…) => …)\`.`;
  const named = names.find((name) => name !== "default");
  const convention = names.map(conventionFix).find((known) => known !== undefined);
  if (convention !== undefined) return `${problem} ${convention}`;
  const fix = /\.[jt]sx$/.test(source.file)
    ? `Declare its page as \`export const ${named ?? "home"} = page("/…", () => …)\``
    : `Wrap each function that the browser calls in server(), as in \`export const ${named ?? "name"} = server((…) => …)\``;
  return `${problem} ${fix}, or remove the module from \`modules\` of new App.`;
}

/** Checks a server module, if the application lists it: see {@link checkListedModule}. */
export async function checkListed(facts: ModuleFacts, resolver: ViteRuleResolver): Promise<string[]> {
  const listed = await resolver.remember("listed", async () => {
    const entry = await resolver.application();
    return entry && readListedModules(entry, resolver);
  });
  return listed ? checkListedModule(facts, listed, resolver) : [];
}

/**
 * Checks a module that the application lists: it serves something, and no module that is listed earlier has one of its paths.
 *
 * @returns warnings about exports that only other frameworks use
 * @throws CompileError at an export, or at a path
 */
export async function checkListedModule(
  facts: ModuleFacts,
  listed: ListedModules,
  resolver: ModuleResolver,
): Promise<string[]> {
  const { modules, indexByFile, endpoints } = listed;
  const index = indexByFile.get(facts.source.file);
  if (index === undefined || !facts.isServerModule) return [];
  if (servesNothing(facts)) throw await servesNothingError(facts, modules, resolver);
  for (const repeated of facts.endpoints) {
    const first = endpoints.get(repeated.key);
    if (!first || first.index >= index) continue;
    const { module, endpoint } = first;
    const where = `${relativePath(module.source.file, resolver.root)}:${endpoint.line}`;
    throw new CompileError(repeatedPathMessage(repeated, where, endpoint.kind), facts.source, repeated.at);
  }
  return unusedConventions(facts, listed, resolver);
}

/** Returns the error for a server module that serves nothing, at the function that a view calls if there is one. */
async function servesNothingError(
  facts: ModuleFacts,
  listed: readonly ModuleFacts[],
  resolver: ModuleResolver,
): Promise<CompileError> {
  const values = facts.exports.named.filter(({ isType }) => !isType);
  const called = await findBrowserImport(facts, listed, resolver);
  const at = values.find(({ name }) => name === called?.name) ?? values[0];
  const caller = called && { name: called.name, file: relativePath(called.importer.source.file, resolver.root) };
  const message = servesNothingMessage(facts, relativePath(facts.source.file, resolver.root), caller);
  return new CompileError(message, facts.source, at?.at ?? { start: 0, end: 1 });
}

/**
 * Returns a warning for each module that the application imports as a namespace and does not use: its pages and functions
 * are not served.
 */
export async function unlistedModules(entry: ModuleFacts, resolver: ModuleResolver): Promise<string[]> {
  const warnings: string[] = [];
  if (!readModuleList(entry)) return warnings;
  const used = usedNames(entry);
  for (const statement of entry.program.body) {
    if (statement.type !== "ImportDeclaration" || statement.importKind === "type") continue;
    const local = statement.specifiers.find(({ type }) => type === "ImportNamespaceSpecifier")?.local.name;
    if (local === undefined || used.has(local)) continue;
    const specifier = statement.source.value;
    const facts = await resolver.read(await resolver.resolve(specifier, entry.source.file));
    if (!facts?.isServerModule || facts.declarations.length === 0) continue;
    warnings.push(
      `${relativePath(entry.source.file, resolver.root)} imports ${local} and does not list it in \`modules\`, so what ` +
        `${relativePath(facts.source.file, resolver.root)} declares is not served. Add ${local} to \`modules\` of new App.`,
    );
  }
  return warnings;
}

/** Where Next.js finds middleware, from the application module. */
const MIDDLEWARE = ["./middleware", "./proxy", "../middleware", "../proxy"];

/**
 * Returns a warning for each module with the middleware of Next.js that no module of the application imports: whoever has copied it
 * takes the pages to be protected, and nothing calls it.
 */
async function unusedMiddleware(entry: ModuleFacts, resolver: ModuleResolver): Promise<string[]> {
  const warnings: string[] = [];
  for (const specifier of MIDDLEWARE) {
    const facts = await resolver.read(await resolver.resolve(specifier, entry.source.file));
    const exported = facts?.exports.named.find(({ name, isType }) => !isType && /^(?:middleware|proxy)$/.test(name));
    if (!facts || !exported) continue;
    const { modules } = await readListedModules(entry, resolver);
    if (!(await importsOf(facts, [entry, ...modules], resolver).next()).done) continue;
    const location = locationIn(facts, exported.at.start, resolver.root);
    warnings.push(
      `${location} exports ${exported.name}, which only Next.js calls, so it checks no ` +
        "request. Set `before` of new App, or call it there.",
    );
  }
  return warnings;
}

/** Returns the names that a module uses outside of its imports. */
function usedNames({ scopes }: ModuleFacts): Set<string> {
  const used = nodesOf(scopes, "Identifier", "JSXIdentifier").filter(
    ({ outer }) => !/^Import(?!Expression)/.test(outer?.node.type ?? ""),
  );
  return new Set(used.map(({ node }) => node.name));
}

/** The functions that Next.js and SvelteKit call by the names of their methods. */
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

const LOAD = 'Load the data in the function of the page: `page("/…", async () => …)`.';
const ACT =
  "Declare a server function, and make it the action of the form: `export const save = server((name: string) => …)` and " +
  "`<form action={save}>`.";
const TITLE = 'Pass the title to the page, as in `page("/…", { title: "…" }, () => …)`, or write <Head> in its markup.';

/** What other frameworks call or read by its name, and what to write in its place. */
const CONVENTIONS: Readonly<Record<string, string>> = {
  loader: LOAD,
  actions: ACT,
  metadata: TITLE,
};

/** Returns what to write in place of an export that other frameworks call by its name; `undefined` for other names. */
function conventionFix(name: string): string | undefined {
  if (METHODS.has(name)) return `Declare a route: \`export const name = route("${name} /…", async (request) => …)\`.`;
  return Object.hasOwn(CONVENTIONS, name) ? CONVENTIONS[name] : undefined;
}

/**
 * Returns a warning for each function and object that a listed module exports under a name that other frameworks call or read,
 * and that no module of the application uses: `GET`, `loader`, `metadata` and others.
 */
async function unusedConventions(
  facts: ModuleFacts,
  { entry, modules }: ListedModules,
  resolver: ModuleResolver,
): Promise<string[]> {
  const names = new Map([...conventionsIn(facts)].map((exported) => [exported.name, exported]));
  if (names.size === 0) return [];
  for await (const { name, importer } of importsOf(facts, [entry, ...modules], resolver)) {
    if (name !== "*") names.delete(name);
    // The application module imports all modules that it lists as namespaces.
    else if (importer !== entry) return [];
  }
  return [...names.values()]
    .filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(entry.source.code))
    .map(({ name, fix, start }) => {
      const location = locationIn(facts, start, resolver.root);
      return `${location} exports ${name}, which only other frameworks use, and no module of the application does. ${fix}`;
    });
}

/** An export with such a name, and where it is. */
interface Convention {
  readonly name: string;
  readonly fix: string;
  readonly start: number;
}

function* conventionsIn({ exports, scopes, declarations }: ModuleFacts): Generator<Convention> {
  for (const { name, local, from, isType, at } of exports.named) {
    const fix = conventionFix(name);
    if (fix === undefined || isType || from || local !== name) continue;
    if (declarations.some((declaration) => declaration.local === local)) continue;
    const [node, second] = scopes.module.findValue(local)?.declarations ?? [];
    const value = node && declaredValue(node);
    if (!value || second || !(isFunctionNode(value) || value.type === "ObjectExpression")) continue;
    if (METHODS.has(name) && !isFunctionNode(value)) continue;
    const uses = nodesOf(scopes, "Identifier", "JSXIdentifier").filter((each) => each.node.name === local);
    if (uses.length === 1) yield { name, fix, start: at.start }; // its declaration
  }
}
