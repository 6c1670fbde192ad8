import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { ESTree } from "vite";
import { closestName } from "../../text/index.ts";
import { type ModuleFacts, type ModuleResolver, ProjectError, relativePath } from "../modules/index.ts";
import {
  CompileError,
  findModuleReferences,
  isScript,
  type ModuleReference,
  parse,
  readScopes,
  type SourceFile,
  specifierName,
  stripQuery,
  walk,
} from "../syntax/index.ts";
import { INSTALL_COMPAT, packageFolder } from "./react-packages.ts";

/** Syntax of TypeScript that has values in it. All other nodes whose type begins with `TS` are types. */
const VALUE_SYNTAX =
  /^TS(?:AsExpression|SatisfiesExpression|NonNullExpression|TypeAssertion|InstantiationExpression|Enum\w+|Module\w+|ExportAssignment|ParameterProperty|ImportEqualsDeclaration)$/;

/**
 * Checks that the modules of the application export the names that a module imports from them. Without this check, such a
 * name is `undefined` in development.
 *
 * Errs towards silence: names that are used as types only do not count, because TypeScript removes their import. Nor do
 * modules with `export *`, and modules that are not ECMAScript modules.
 *
 * @throws CompileError at the first name that is not exported
 */
export async function checkImportedNames(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  let used: ReadonlySet<string> | undefined;
  for (const statement of facts.program.body) {
    if (statement.type !== "ImportDeclaration" || statement.importKind === "type") continue;
    const specifiers = statement.specifiers.filter((specifier) => specifier.type !== "ImportNamespaceSpecifier");
    if (specifiers.length === 0) continue;
    const id = await resolver.resolve(statement.source.value, facts.source.file);
    const imported = id?.includes("?") ? undefined : await resolver.read(id); // with a query, it is not the module itself
    if (!imported || !showsAllExports(imported)) continue;
    for (const specifier of specifiers) {
      const name = importedName(specifier);
      if (imported.exports.named.some((entry) => entry.name === name)) continue;
      used ??= usedValues(facts.program);
      if (!used.has(specifier.local.name)) continue;
      throw new CompileError(missingExportMessage(specifier, imported, resolver.root), facts.source, specifier);
    }
  }
}

function showsAllExports({ program, exports }: ModuleFacts): boolean {
  if (exports.starExports.length > 0 || exports.named.length === 0) return false;
  return program.body.every(
    ({ type }) =>
      type !== "ExportAllDeclaration" && type !== "TSExportAssignment" && type !== "TSNamespaceExportDeclaration",
  );
}

/** A name that an import declares: of an export, or of the default export. */
type NamedImport = ESTree.ImportSpecifier | ESTree.ImportDefaultSpecifier;

function importedName(specifier: NamedImport): string {
  return specifier.type === "ImportSpecifier" ? specifierName(specifier.imported) : "default";
}

function missingExportMessage(
  specifier: NamedImport,
  { source, exports, scopes, isServerModule }: ModuleFacts,
  root: string,
): string {
  const name = importedName(specifier);
  const file = relativePath(source.file, root);
  const names = exports.named.map((entry) => entry.name);
  if (name === "default") {
    const whole = isServerModule ? `, or for \`modules\` of App: \`import * as ${specifier.local.name} from …\`` : "";
    return `${file} has no default export. Import by name: \`import { ${names[0]} } from …\`${whole}. It exports: ${names.join(", ")}.`;
  }
  if (scopes.module.findValue(name))
    return `"${name}" of ${file} is not exported. Write \`export\` before its declaration.`;
  const meant = closestName(name, names);
  return `${file} exports no "${name}". ${meant ? `Did you mean "${meant}"?` : `It exports: ${names.join(", ")}.`}`;
}

/** Returns the identifiers of a module that are used as values, whatever they refer to. */
export function usedValues(program: ESTree.Program): ReadonlySet<string> {
  const names = new Set<string>();
  walk(program, (node) => {
    if (node.type === "ImportDeclaration" || node.type === "ExportSpecifier") return false; // an export may be a type
    if (node.type.startsWith("TS") && !VALUE_SYNTAX.test(node.type)) return false;
    if (node.type === "Identifier" || node.type === "JSXIdentifier") names.add(node.name);
    return true;
  });
  return names;
}

/** The name of a package, at the start of a specifier. */
const PACKAGE_NAME = /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(?=\/|$)/i;

/**
 * Returns the error about an import of a file or package that does not exist, with its location in the importer. If the
 * importer does not contain the import, as when it was edited since, the error has no location.
 *
 * @param importer the file that imports it, absolute
 */
export function missingImportError(specifier: string, importer: string, root: string): CompileError | ProjectError {
  const source = readSource(importer);
  const start = source && (referenceStart(specifier, source) ?? quotedStart(specifier, source.code));
  const message = missingImportMessage(specifier, importer, root);
  if (!source || start === undefined)
    return new ProjectError(`${message} Imported by ${relativePath(importer, root)}.`);
  return new CompileError(message, source, { start, end: start + specifier.length + 2 }); // with its quotes
}

/**
 * Returns the error about an import of a name that a package does not export, with its location in the first module below
 * `src/` that has this import; without one, the error has no location.
 */
export function missingExportError(specifier: string, name: string, root: string): CompileError | ProjectError {
  const message =
    name === "default"
      ? `"${specifier}" has no default export. Import what it exports by name.`
      : `"${specifier}" exports no value ${name}. If ${name} is a type, write \`type ${name}\` in the import. Otherwise correct the name.`;
  const folder = join(root, "src");
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  for (const entry of entries) {
    const source = isScript(entry.name) ? readSource(join(entry.parentPath, entry.name)) : undefined;
    if (!source?.code.includes(specifier)) continue;
    const references = referencesIn(source).filter((each) => each.specifier === specifier && !each.isType);
    const names = references.flatMap((each) => each.names);
    const imported = names.find((each) => each.name === name && !each.isType);
    if (imported) return new CompileError(message, source, imported.at);
  }
  return new ProjectError(message);
}

function readSource(file: string): SourceFile | undefined {
  try {
    return { file, code: readFileSync(file, "utf8") };
  } catch {
    return undefined; // it may have been deleted too, or be a virtual module
  }
}

function referenceStart(specifier: string, source: SourceFile): number | undefined {
  return referencesIn(source).find((reference) => reference.specifier === specifier)?.at.start;
}

function referencesIn(source: SourceFile): ModuleReference[] {
  if (!isScript(source.file)) return [];
  try {
    return findModuleReferences(readScopes(parse(source)));
  } catch (error) {
    if (error instanceof CompileError) return []; // it was edited since, and has a syntax error now
    throw error;
  }
}

function quotedStart(specifier: string, code: string): number | undefined {
  const starts = [`"${specifier}"`, `'${specifier}'`].map((text) => code.indexOf(text)).filter((start) => start >= 0);
  return starts[0];
}

/**
 * Returns the message about an import of a file or package that does not exist, with its fix. Builds, the development
 * server and style sheets have the same words.
 *
 * @param importer the file that imports it, absolute
 */
export function missingImportMessage(specifier: string, importer: string, root: string): string {
  if (/^\.{0,2}\//.test(specifier)) return missingFileMessage(specifier, importer, root);
  if (specifier.startsWith("#"))
    return `"${specifier}" matches no file. Correct it, or add it to "imports" in package.json.`;
  const name = PACKAGE_NAME.exec(specifier)?.[0];
  if (name === undefined)
    return `"${specifier}" matches no file. Correct the path, or add its prefix to "paths" in tsconfig.json.`;
  const folder = packageFolder(name, importer);
  if (folder === undefined) return `The package "${name}" is not installed. ${installAdvice(name, importer)}`;
  return `The package "${name}" is installed, but "${specifier}" leads to no file of it. Correct the path; "exports" in its package.json lists the valid ones.`;
}

const OWN_SERVER =
  "tsweb serves the application itself: declare pages with page(), and endpoints with route(). To use it inside a server of your " +
  "own, install the package and see docs/hosts.md of tsweb.";

/** Packages that need more than an installation, or none. */
const INSTALL_ADVICE: Readonly<Record<string, string>> = {
  express: OWN_SERVER,
  koa: OWN_SERVER,
  fastify: OWN_SERVER,
  hono: OWN_SERVER,
  "react-router": 'Each page has its path: page("/guests/:id", …). Link to it with <a href="…">.',
  "react-router-dom": 'Each page has its path: page("/guests/:id", …). Link to it with <a href="…">.',
  "socket.io-client": "For messages from the server, use channel(), publish() and subscribe(): docs/live.md of tsweb.",
  dotenv: "Remove it: tsweb dev reads .env itself. For the built server, write: node --env-file=.env dist/server.mjs",
  tailwindcss:
    "Install it: npm install --save-dev tailwindcss @tailwindcss/vite, and add the plugin to vite.config.ts: " +
    "plugins: [tailwindcss()].",
  "@vitejs/plugin-react": "Remove this plugin: tsweb compiles JSX itself, and renders it with Preact.",
  "@vitejs/plugin-react-swc": "Remove this plugin: tsweb compiles JSX itself, and renders it with Preact.",
  "@preact/preset-vite": "Remove this plugin: tsweb compiles JSX itself, and renders it with Preact.",
};

/** Returns how to install a package. A library that imports React needs the package that stands for it in views. */
function installAdvice(name: string, importer: string): string {
  if (Object.hasOwn(INSTALL_ADVICE, name)) return `${INSTALL_ADVICE[name]}`;
  const isOfLibrary = /^react(?:-dom)?$/.test(name) && importer.includes("/node_modules/");
  return isOfLibrary ? `Views are rendered with Preact. ${INSTALL_COMPAT}` : `Install it: npm install ${name}`;
}

function missingFileMessage(specifier: string, importer: string, root: string): string {
  const path = stripQuery(specifier);
  const file = path.startsWith("/") ? path : posix.resolve(posix.dirname(importer), path);
  const shown = path.startsWith("/") ? path : relativePath(file, root);
  const suggestion = closestFile(file);
  const meant = suggestion && `${path.slice(0, path.lastIndexOf("/") + 1)}${suggestion}`;
  return `"${specifier}" does not exist: there is no file ${shown}. ${meant ? `Did you mean "${meant}"?` : "Correct the path, or create the file."}`;
}

/** Returns the name of a file in the same folder that the missing file's name probably means. */
function closestFile(file: string): string | undefined {
  const folder = posix.dirname(file);
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  return closestName(posix.basename(file), names);
}
