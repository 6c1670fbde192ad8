import { CompileError, type SourceFile } from "./compile-error.ts";
import { nodesOf, patternNames, type Scopes } from "./scope.ts";
import type { Node } from "./walk.ts";

/**
 * Rejects a second `const`, `let` or `class` of a name in one block, which the parser accepts and no runtime does.
 *
 * @throws CompileError at the second declaration
 */
export function rejectRedeclarations(scopes: Scopes, source: SourceFile): void {
  for (const { node } of nodesOf(scopes, "Program", "BlockStatement")) checkBlock(node.body, source);
}

function checkBlock(statements: readonly Node[], source: SourceFile): void {
  const names = new Set<string>();
  for (const statement of statements) {
    for (const { name, at } of lexicalNames(statement)) {
      if (names.has(name)) {
        throw new CompileError(`"${name}" is declared twice. Rename or remove one of the declarations.`, source, at);
      }
      names.add(name);
    }
  }
}

function lexicalNames(statement: Node): { readonly name: string; readonly at: Node }[] {
  const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (!declared || ("declare" in declared && declared.declare)) return [];
  if (declared.type === "ClassDeclaration") return declared.id ? [{ name: declared.id.name, at: declared.id }] : [];
  if (declared.type !== "VariableDeclaration" || declared.kind === "var") return [];
  return declared.declarations.flatMap(({ id }) => patternNames(id).map((name) => ({ name, at: id })));
}
