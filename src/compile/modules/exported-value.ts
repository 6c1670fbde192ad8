import { type Node, unwrapExpression } from "../syntax/index.ts";
import type { ResolvedExport } from "./module-resolver.ts";

/** Returns the value of an export: of a declaration, a variable or `export default`. */
export function exportedValue({ facts, name }: ResolvedExport): Node | undefined {
  const { exports, scopes, program } = facts;
  const local = exports.named.find((exported) => exported.name === name)?.local;
  const [declared] =
    local === undefined
      ? program.body.flatMap((node) => (node.type === "ExportDefaultDeclaration" ? [node.declaration] : []))
      : (scopes.module.findValue(local)?.declarations ?? []);
  const value = declared?.type === "VariableDeclarator" ? declared.init : declared;
  return value ? unwrapExpression(value) : undefined;
}
