import type { ESTree } from "vite";
import { CompileError, type SourceFile } from "./compile-error.ts";
import { patternNames } from "./scope.ts";
import { type Node, walk } from "./walk.ts";

/**
 * Rejects a second `const`, `let` or `class` of a name in one block, which the parser accepts and no runtime does.
 *
 * @throws CompileError at the second declaration
 */
export function rejectRedeclarations(program: ESTree.Program, source: SourceFile): void {
  walk(program, (node) => {
    if (node.type === "Program" || node.type === "BlockStatement") checkBlock(node.body, source);
    return true;
  });
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
