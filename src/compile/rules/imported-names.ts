import type { ESTree } from "vite";
import { closestName } from "../../text/index.ts";
import { type ModuleFacts, type ModuleResolver, relativePath } from "../modules/index.ts";
import { CompileError, specifierName, walk } from "../syntax/index.ts";

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

/** Returns whether the source of a module shows all of its exports. */
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
function usedValues(program: ESTree.Program): ReadonlySet<string> {
  const names = new Set<string>();
  walk(program, (node) => {
    if (node.type === "ImportDeclaration" || node.type === "ExportSpecifier") return false; // an export may be a type
    if (node.type.startsWith("TS") && !VALUE_SYNTAX.test(node.type)) return false;
    if (node.type === "Identifier" || node.type === "JSXIdentifier") names.add(node.name);
    return true;
  });
  return names;
}
