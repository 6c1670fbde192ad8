import { posix } from "node:path";
import type { ESTree } from "vite";
import { type ModuleFacts, type ModuleResolver, relativePath } from "../modules/index.ts";
import { CompileError, nodesOf } from "../syntax/index.ts";

/**
 * Rejects a member of the default import of a style sheet that is no CSS module: the import is undefined.
 *
 * Errs towards silence: other uses of the import, imports with a query, and files in other languages than CSS are not checked.
 *
 * @throws CompileError at the name of the import
 */
export async function checkStyleSheetImports(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  for (const statement of facts.program.body) {
    if (statement.type !== "ImportDeclaration" || !/^\.{1,2}\/.*(?<!\.module)\.css$/i.test(statement.source.value))
      continue;
    const specifier = statement.specifiers.find(({ type }) => type === "ImportDefaultSpecifier");
    if (!specifier || !readsMember(facts, specifier)) continue;
    const id = await resolver.resolve(statement.source.value, facts.source.file);
    if (!id || !/(?<!\.module)\.css$/i.test(id)) continue; // style.css.ts
    const name = posix.basename(id);
    throw new CompileError(
      `${relativePath(id, resolver.root)} is a plain style sheet, so \`${specifier.local.name}\` is undefined. To import its ` +
        `class names, rename it to ${name.replace(/\.css$/i, ".module.css")}. Otherwise write \`import "${statement.source.value}"\` and the ` +
        'class names as text: `class="main"`.',
      facts.source,
      specifier.local,
    );
  }
}

/** Returns whether the module reads a member of an import, as in `styles.main`. */
function readsMember({ scopes }: ModuleFacts, specifier: ESTree.ImportDeclarationSpecifier): boolean {
  return nodesOf(scopes, "MemberExpression").some(
    ({ node, scope }) =>
      !node.optional &&
      node.object.type === "Identifier" &&
      node.object.name === specifier.local.name &&
      scope.findValue(node.object.name)?.declarations[0] === specifier,
  );
}
