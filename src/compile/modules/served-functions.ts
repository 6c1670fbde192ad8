import type { ESTree } from "vite";
import {
  CompileError,
  type ImportedName,
  type Node,
  nodesOf,
  type SourceRange,
  unwrapExpression,
} from "../syntax/index.ts";
import { type ModuleFacts, type ModuleResolver, type ResolvedExport, resolveImported } from "./module-facts.ts";
import { relativePath } from "./server-only.ts";
import { importedNameOf } from "./values.ts";

/** A server function, or a page or route for links, that a server module re-exports under the same name. */
export interface ReExport {
  readonly name: string;
  /** The specifier of the re-export. */
  readonly source: string;
}

/** Such a re-export, with the export that declares it. */
export interface ReExportedStub extends ReExport {
  readonly origin: ResolvedExport;
}

/** Returns the stubs of a server module that it re-exports. A renamed one is not included: its name is part of its URL. */
export async function reExportedStubs(facts: ModuleFacts, resolver: ModuleResolver): Promise<ReExportedStub[]> {
  const functions = new Map<string, ReExportedStub>();
  const add = async (name: string, source: string) => {
    const origin = await resolveImported({ source, name }, facts, resolver);
    if (origin && hasStub(origin, name) && !functions.has(name)) functions.set(name, { name, source, origin });
  };
  for (const { name, from, isType } of facts.exports.named) {
    if (from && !isType && from.name === name) await add(name, from.source);
  }
  for (const { source } of facts.exports.starExports) {
    const target = await resolver.read(await resolver.resolve(source, facts.source.file));
    if (!target?.isServerModule) continue;
    const exportedNames = facts.exports.named.map((exported) => exported.name);
    const names = [...target.functions, ...target.endpoints, ...(await reExportedStubs(target, resolver))].map(
      (serverFunction) => serverFunction.name,
    );
    for (const name of names) if (!exportedNames.includes(name)) await add(name, source);
  }
  return [...functions.values()];
}

/** Returns whether an export resolves to a server function of the same name. */
export function isServerFunction(origin: ResolvedExport, name: string): boolean {
  return origin.name === name && origin.serverFunction !== undefined;
}

/** Returns whether an export resolves to a page or a route of the same name, whose path is written as text. */
export function isEndpoint(origin: ResolvedExport, name: string): boolean {
  return origin.name === name && origin.facts.endpoints.some((endpoint) => endpoint.name === name);
}

/** Returns whether browser code may import an export, as a stub. */
function hasStub(origin: ResolvedExport, name: string): boolean {
  return isServerFunction(origin, name) || isEndpoint(origin, name);
}

/** A module that `new App({ modules: [ … ] })` lists. */
interface ListedModule {
  readonly source: string;
  readonly at: SourceRange;
}

/** One element of `new App({ modules: [ … ] })`. */
interface ModuleElement {
  readonly element: Node;
  /** The import that it is a name of; absent for any other expression. */
  readonly imported?: ImportedName;
}

/** Returns the elements of the list of modules of an application, as far as its source shows it. */
export function appModuleElements(facts: ModuleFacts): ModuleElement[] {
  return applicationsIn(facts).flatMap((app) => elementsOf(app, facts) ?? []);
}

/** Returns the layouts of the applications of a module, as expressions, as far as its source shows them. */
export function layoutsOfApp(facts: ModuleFacts): Node[] {
  return appOptions(facts)
    .filter(({ key, computed }) => key.type === "Identifier" && key.name === "layout" && !computed)
    .map(({ value }) => value);
}

/** Returns the options of the applications of a module, as far as its source shows them. */
export function appOptions(facts: ModuleFacts): ESTree.ObjectProperty[] {
  return applicationsIn(facts).flatMap(({ arguments: [argument] }) => {
    const options = argument && unwrapExpression(argument);
    const properties = options?.type === "ObjectExpression" ? options.properties : [];
    return properties.filter((property) => property.type !== "SpreadElement");
  });
}

function applicationsIn(facts: ModuleFacts): ESTree.NewExpression[] {
  return nodesOf(facts.scopes, "NewExpression").flatMap(({ node }) => (isApp(node, facts) ? [node] : []));
}

/** Returns the elements of the list of modules of one application; `undefined` when its source does not show the list. */
function elementsOf(app: ESTree.NewExpression, facts: ModuleFacts): ModuleElement[] | undefined {
  const options = app.arguments[0] && unwrapExpression(app.arguments[0]);
  const array = options?.type === "ObjectExpression" ? moduleArray(options, facts) : undefined;
  return array?.elements.flatMap((element) => {
    const value = element && unwrapExpression(element);
    if (!value) return [];
    const imported = value.type === "Identifier" ? facts.scopes.module.findValue(value.name)?.imported : undefined;
    return [{ element: value, ...(imported ? { imported } : {}) }];
  });
}

/**
 * Reads the list of modules of an application from its source.
 *
 * @returns `undefined` when the source does not show all of it: a spread, a computed list, several applications
 */
export function readModuleList(facts: ModuleFacts): ListedModule[] | undefined {
  const [app, second] = applicationsIn(facts);
  const elements = app && !second ? elementsOf(app, facts) : undefined;
  if (!elements) return undefined;
  const modules: ListedModule[] = [];
  for (const { element, imported } of elements) {
    if (imported?.name !== "*") return undefined;
    modules.push({ source: imported.source, at: element });
  }
  return modules;
}

function isApp(node: ESTree.NewExpression, facts: ModuleFacts): boolean {
  const created = importedNameOf(unwrapExpression(node.callee), facts.scopes.module);
  return created?.source === "tsweb" && created.name === "App";
}

/** Returns the values of the option `modules` of the applications of a module, as far as its source shows them. */
export function appModuleValues(facts: ModuleFacts): Node[] {
  return applicationsIn(facts).flatMap(({ arguments: [argument] }) => {
    const options = argument && unwrapExpression(argument);
    const value = options?.type === "ObjectExpression" ? modulesValue(options, facts) : undefined;
    return value ? [value] : [];
  });
}

function moduleArray(options: ESTree.ObjectExpression, facts: ModuleFacts): ESTree.ArrayExpression | undefined {
  const value = modulesValue(options, facts);
  return value?.type === "ArrayExpression" ? value : undefined;
}

/** Returns the value of the option `modules`, that of its constant if it is one; `undefined` if the source does not show it. */
function modulesValue(options: ESTree.ObjectExpression, facts: ModuleFacts): Node | undefined {
  let list: Node | undefined;
  for (const property of options.properties) {
    // A spread may set `modules` as well.
    if (property.type === "SpreadElement") return undefined;
    if (property.key.type !== "Identifier" || property.key.name !== "modules" || property.computed) continue;
    let value = unwrapExpression(property.value);
    if (value.type === "Identifier") {
      const declared = facts.scopes.module.findValue(value.name);
      const node = declared?.kind === "const" ? declared.declarations[0] : undefined;
      if (node?.type === "VariableDeclarator" && node.init) value = unwrapExpression(node.init);
    }
    list = value;
  }
  return list;
}

/** The server functions that an application serves. */
export interface ServedFunctions {
  /** The application's module, relative to the project's root. */
  readonly entry: string;
  has(file: string, name: string): boolean | Promise<boolean>;
}

/** All server functions that an application serves. */
interface AllServedFunctions extends ServedFunctions {
  has(file: string, name: string): boolean;
}

/**
 * Returns which server functions an application serves. Its modules are read only for a function that none of them declares:
 * one of them may re-export it.
 *
 * @returns `undefined` when its source does not show all of its modules
 */
export async function servedFunctions(
  entry: ModuleFacts,
  resolver: ModuleResolver,
): Promise<ServedFunctions | undefined> {
  const list = readModuleList(entry);
  if (!list) return undefined;
  const ids = await Promise.all(list.map(({ source }) => resolver.resolve(source, entry.source.file)));
  const listed = new Set(ids);
  let all: Promise<AllServedFunctions | undefined> | undefined;
  return {
    entry: relativePath(entry.source.file, resolver.root),
    has: async (file, name) => {
      const facts = listed.has(file) ? await resolver.read(file) : undefined;
      if (facts?.functions.some((serverFunction) => serverFunction.name === name)) return true;
      all ??= readServedFunctions(entry, resolver);
      return (await all)?.has(file, name) ?? true;
    },
  };
}

/**
 * Reads all server functions that an application serves.
 *
 * @returns `undefined` when its source does not show all of its modules
 * @throws CompileError when two of its modules export different server functions under one name
 */
export async function readServedFunctions(
  entry: ModuleFacts,
  resolver: ModuleResolver,
): Promise<AllServedFunctions | undefined> {
  const list = readModuleList(entry);
  if (!list) return undefined;
  const root = resolver.root;
  const byName = new Map<string, string>();
  for (const { source, at } of list) {
    const facts = await resolver.read(await resolver.resolve(source, entry.source.file));
    // A module that cannot be read may export any function.
    if (!facts || facts.mistakes.length > 0) return undefined;
    const declared = facts.functions.map(({ name }) => ({ name, file: facts.source.file }));
    const stubs = await reExportedStubs(facts, resolver);
    const reExported = stubs
      .filter(({ name, origin }) => isServerFunction(origin, name))
      .map(({ name, origin }) => ({
        name,
        file: origin.facts.source.file,
      }));
    for (const { name, file } of [...declared, ...reExported]) {
      const earlier = byName.get(name);
      if (earlier !== undefined && earlier !== file) {
        throw new CompileError(
          `"${name}" is a server function of both ${relativePath(earlier, root)} and ${relativePath(file, root)}, but names are unique in an application. Rename one of them.`,
          entry.source,
          at,
        );
      }
      byName.set(name, file);
    }
  }
  return { entry: relativePath(entry.source.file, root), has: (file, name) => byName.get(name) === file };
}
