// Reads which modules import which, also those of types, which no bundler reports, and finds cycles of these imports.
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";
import { parseSync, Visitor } from "vite";

/** The part of the panel is an application of its own. */
const EXCLUDED = "src/panel/app/";

/**
 * @typedef {object} Import
 * @property {string} from the importing module, such as `src/rpc/index.ts`
 * @property {string} to the imported module, `node:` with the name of a module of Node, or `node_modules/` with that of a package
 * @property {string} specifier what the module writes
 * @property {boolean} isType whether types alone are imported
 */

/**
 * Returns the modules in folders of a repository, and what they import.
 *
 * @param {string} root
 * @param {readonly string[]} folders
 * @returns {{ readonly modules: readonly string[], readonly imports: readonly Import[] }}
 * @throws SyntaxError with the module and the place of an error in its syntax
 */
export function readModules(root, folders) {
  const modules = folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => posix.join(folder, path)))
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith(EXCLUDED));
  const ownName = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).name;
  const imports = modules.flatMap((from) =>
    specifiersOf(from, readFileSync(join(root, from), "utf8")).map(({ specifier, isType }) => {
      return { from, to: resolve(specifier, from, ownName), specifier, isType };
    }),
  );
  return { modules, imports };
}

function resolve(specifier, from, ownName) {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier);
  if (specifier.startsWith("#test/")) return `tests/support/${specifier.slice("#test/".length)}.ts`;
  if (isBuiltin(specifier)) return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
  const [name] = /^(@[^/]+\/)?[^/]+/.exec(specifier);
  return name === ownName ? `dist${specifier.slice(name.length)}` : `node_modules/${name}`;
}

/** Returns what a module imports and re-exports, statically, with `import()`, as a type, and with a reference to a file. */
function specifiersOf(file, code) {
  const { module, program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors[0].message}\n${errors[0].codeframe ?? ""}`);
  const found = [];
  const add = (specifier, isType) => found.push({ specifier, isType });
  /** An import without names is one of a module for its effects. */
  const isType = ({ entries }) => entries.length > 0 && entries.every((entry) => entry.isType);
  for (const each of module.staticImports) add(each.moduleRequest.value, isType(each));
  for (const each of module.staticExports) {
    const [{ moduleRequest } = {}] = each.entries;
    if (moduleRequest) add(moduleRequest.value, isType(each));
  }
  // Most modules have none of these, and `program` costs most of the time.
  if (/\bimport\s*\(/.test(code)) {
    new Visitor({
      ImportExpression: ({ source }) => typeof source.value === "string" && add(source.value, false),
      TSImportType: ({ source }) => add(source.value, true),
    }).visit(program);
  }
  for (const [, path] of code.matchAll(/^\/\/\/ <reference path="([^"]+)"/gm)) {
    add(path.startsWith(".") ? path : `./${path}`, true);
  }
  return found;
}

/**
 * Returns a cycle for each import that is part of one: its module, then the modules that lead back to it.
 *
 * @param {readonly Import[]} imports
 * @returns {string[][]}
 */
export function findCycles(imports) {
  const importedBy = new Map();
  for (const { from, to } of imports) importedBy.set(from, (importedBy.get(from) ?? new Set()).add(to));
  removeLeaves(importedBy);
  return [...importedBy].flatMap(([from, targets]) =>
    [...targets].flatMap((to) => {
      const path = shortestPath(importedBy, to, from);
      return path ? [[from, ...path]] : [];
    }),
  );
}

/** Removes the modules that import none of the others, until none is left: all modules, if there is no cycle. */
function removeLeaves(importedBy) {
  for (let size = -1; size !== importedBy.size; ) {
    size = importedBy.size;
    for (const [from, targets] of importedBy) {
      if (![...targets].some((to) => importedBy.has(to))) importedBy.delete(from);
    }
  }
}

function shortestPath(importedBy, from, to) {
  const paths = new Map([[from, [from]]]);
  for (const [module, path] of paths) {
    if (module === to) return path;
    for (const next of importedBy.get(module) ?? []) if (!paths.has(next)) paths.set(next, [...path, next]);
  }
  return undefined;
}
