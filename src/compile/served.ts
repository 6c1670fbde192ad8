import type { ESTree } from "vite";
import { CompileError, type Span } from "./errors.ts";
import { type ModuleFacts, relativeFile } from "./module.ts";
import { isServerModule } from "./parse.ts";
import type { HandedOn } from "./stubs.ts";
import { unwrap, walk } from "./walk.ts";
import { type Origin, originOf, type World } from "./world.ts";

/** A server function that a module exports: its own, or another server module's under the same name. */
export interface ExportedFunction extends HandedOn {
  readonly origin: Origin;
}

/** Finds the server functions that a server module hands on from others. A changed name is not one: it has one name. */
export async function functionsHandedOn(facts: ModuleFacts, world: World): Promise<ExportedFunction[]> {
  const found = new Map<string, ExportedFunction>();
  const add = async (name: string, source: string) => {
    const id = await world.resolve(source, facts.source.file);
    const origin = await originOf(id, name, world);
    if (origin && isFunctionOf(origin, name) && !found.has(name)) found.set(name, { name, source, origin });
  };
  for (const { name, from, isType } of facts.exports.named) {
    if (from && !isType && from.name === name) await add(name, from.source);
  }
  for (const { source } of facts.exports.stars) {
    const other = await world.modules.other(await world.resolve(source, facts.source.file));
    if (!other || !isServerModule(other.source.file)) continue;
    const own = facts.exports.named.map((each) => each.name);
    const names = [...other.functions, ...(await functionsHandedOn(other, world))].map((each) => each.name);
    for (const name of names) if (!own.includes(name)) await add(name, source);
  }
  return [...found.values()];
}

/** Answers whether what a name comes from is a server function of that name. */
export function isFunctionOf(origin: Origin, name: string): boolean {
  return origin.name === name && origin.facts.functions.some((each) => each.name === name);
}

/** One element of `new App({ modules: [ … ] })`. */
interface Listed {
  readonly source: string;
  readonly at: Span;
}

/**
 * Reads the list of modules of an application from its text.
 *
 * @returns `undefined` when the text does not say it all: a spread, a computed list, several applications
 */
export function readModuleList(facts: ModuleFacts): Listed[] | undefined {
  const apps: ESTree.NewExpression[] = [];
  walk(facts.program, (node) => {
    if (node.type === "NewExpression" && isApp(node, facts)) apps.push(node);
    return true;
  });
  const [app, another] = apps;
  const options = app?.arguments[0] && unwrap(app.arguments[0]);
  if (another || options?.type !== "ObjectExpression") return undefined;
  const list = listIn(options, facts);
  if (!list) return undefined;
  const read: Listed[] = [];
  for (const element of list.elements) {
    const value = element && unwrap(element);
    const imported = value?.type === "Identifier" ? facts.scopes.module.value(value.name)?.imported : undefined;
    if (!value || imported?.name !== "*") return undefined;
    read.push({ source: imported.source, at: value });
  }
  return read;
}

function isApp(node: ESTree.NewExpression, facts: ModuleFacts): boolean {
  const callee = unwrap(node.callee);
  const named = (name: string) => facts.scopes.module.value(name)?.imported;
  if (callee.type === "Identifier") {
    const imported = named(callee.name);
    return imported?.source === "tsweb" && imported.name === "App";
  }
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return false;
  const namespace = named(callee.object.name);
  const property = callee.property.type === "Identifier" && callee.property.name;
  return namespace?.source === "tsweb" && namespace.name === "*" && property === "App";
}

function listIn(options: ESTree.ObjectExpression, facts: ModuleFacts): ESTree.ArrayExpression | undefined {
  let list: ESTree.ArrayExpression | undefined;
  for (const property of options.properties) {
    // What is spread may hold another list.
    if (property.type === "SpreadElement") return undefined;
    if (property.key.type !== "Identifier" || property.key.name !== "modules" || property.computed) continue;
    let value = unwrap(property.value);
    if (value.type === "Identifier") {
      const declared = facts.scopes.module.value(value.name);
      const node = declared?.kind === "const" ? declared.nodes[0] : undefined;
      if (node?.type === "VariableDeclarator" && node.init) value = unwrap(node.init);
    }
    if (value.type === "ArrayExpression") list = value;
  }
  return list;
}

/** The server functions that an application serves, as far as its text says. */
export interface Served {
  /** The application's module, relative to the root. */
  readonly entry: string;
  has(file: string, name: string): boolean;
}

/**
 * Reads which server functions an application serves.
 *
 * @returns `undefined` when its text does not say
 * @throws CompileError when two of its modules export different functions of one name
 */
export async function readServed(entry: ModuleFacts, world: World): Promise<Served | undefined> {
  const list = readModuleList(entry);
  if (!list) return undefined;
  const root = world.modules.root;
  const byName = new Map<string, string>();
  for (const { source, at } of list) {
    const facts = await world.modules.other(await world.resolve(source, entry.source.file));
    // A module that cannot be read now may serve anything.
    if (!facts) return undefined;
    const own = facts.functions.map(({ name }) => ({ name, file: facts.source.file }));
    const others = (await functionsHandedOn(facts, world)).map(({ name, origin }) => ({
      name,
      file: origin.facts.source.file,
    }));
    for (const { name, file } of [...own, ...others]) {
      const before = byName.get(name);
      if (before !== undefined && before !== file) {
        throw new CompileError(
          `"${name}" is a server function of both ${relativeFile(before, root)} and ${relativeFile(file, root)}, and an application has one of a name: rename one of them.`,
          entry.source,
          at,
        );
      }
      byName.set(name, file);
    }
  }
  return { entry: relativeFile(entry.source.file, root), has: (file, name) => byName.get(name) === file };
}
