import type { ESTree } from "vite";
import { importedNameOf } from "./jsx-values.ts";
import {
  CompileError,
  type ImportedName,
  type Node,
  type Scopes,
  type SourceFile,
  unwrapExpression,
  walkScoped,
} from "./syntax/index.ts";

/** Returns whether a module may import and call `redirect`, also by way of another module, without parsing it. */
export function mayContainRedirect(code: string): boolean {
  return /\bimport\b/.test(code) && /\bredirect\b/.test(code);
}

/**
 * Rejects a statement that calls `redirect()` and drops its value: it has no effect, so that a guard that is written
 * like this lets everybody pass. A function of the project that is also named `redirect` is not affected.
 *
 * @throws CompileError at the call
 */
export function checkUnusedRedirects(program: ESTree.Program, source: SourceFile, scopes: Scopes): void {
  if (!mayContainRedirect(source.code)) return;
  for (const { call, imported } of droppedImportedCalls(program, scopes)) {
    if (isRedirect(imported)) throw new CompileError(unusedMessage(call, source), source, call);
  }
}

/** Returns whether an import is `redirect` of tsweb. */
export function isRedirect({ source, name }: ImportedName): boolean {
  return source === "tsweb" && name === "redirect";
}

/** Returns the calls of imported functions whose value a statement drops. */
export function droppedImportedCalls(program: ESTree.Program, scopes: Scopes) {
  const calls: { readonly call: ESTree.CallExpression; readonly imported: ImportedName }[] = [];
  walkScoped(program, scopes.module, scopes, (node, scope) => {
    if (node.type !== "ExpressionStatement") return true;
    for (const call of droppedCalls(node.expression)) {
      const imported = importedNameOf(unwrapExpression(call.callee), scope);
      if (imported) calls.push({ call, imported });
    }
    return true;
  });
  return calls;
}

/** Returns the calls whose result is the value of an expression, or of an operand that a statement drops with it. */
function droppedCalls(node: Node): ESTree.CallExpression[] {
  const inner = unwrapExpression(node);
  switch (inner.type) {
    case "CallExpression":
      return [inner];
    case "ChainExpression":
      return droppedCalls(inner.expression);
    case "AwaitExpression":
    case "UnaryExpression":
      return droppedCalls(inner.argument);
    case "LogicalExpression":
      return [...droppedCalls(inner.left), ...droppedCalls(inner.right)];
    case "ConditionalExpression":
      return [inner.test, inner.consequent, inner.alternate].flatMap(droppedCalls);
    case "SequenceExpression":
      return inner.expressions.flatMap(droppedCalls);
    default:
      return [];
  }
}

/** The maximum length of a call that is repeated in the message. */
const MAX_CALL_LENGTH = 60;

/** Returns the error message for a call whose value is dropped. */
export function unusedMessage(call: ESTree.CallExpression, { code }: SourceFile): string {
  const name = code.slice(call.callee.start, call.callee.end);
  const text = code.slice(call.start, call.end);
  const fix = text.length > MAX_CALL_LENGTH || text.includes("\n") ? `${name}(…)` : text;
  return `${name}() returns a value and has no effect here. Write \`throw ${fix}\` or \`return ${name}(…)\`.`;
}
