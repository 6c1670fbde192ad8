import { importedNameOf, type ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  type ImportedName,
  type Node,
  nodesOf,
  type Scopes,
  type SourceFile,
  unwrapExpression,
} from "../syntax/index.ts";
import type { Call } from "./call-text.ts";
import { isErrorClass, mayContainErrorClass, unthrownMessage } from "./unthrown-errors.ts";
import { isRedirect, mayContainRedirect, unusedMessage } from "./unused-redirects.ts";

/** Returns whether a module may drop a value that tsweb needs, without parsing it. Errs towards yes. */
export function mayDropValues(code: string): boolean {
  return mayContainRedirect(code) || mayContainErrorClass(code);
}

/**
 * Rejects statements that drop a value without which they have no effect, so that a guard that is written like this lets
 * everybody pass: a call of `redirect()`, and a new error of tsweb that is not thrown. Functions and classes of the project
 * with the same names are not affected.
 *
 * @throws CompileError at the expression
 */
export function checkDroppedValues({ source, scopes }: ModuleFacts): void {
  if (!mayDropValues(source.code)) return;
  for (const { call, imported } of droppedImportedCalls(scopes)) {
    const message = droppedMessage(call, imported, source);
    if (message !== undefined) throw new CompileError(message, source, call);
  }
}

/**
 * Returns the error message for an expression whose value is dropped; `undefined` if it needs no value.
 *
 * @param origin the function or class that it calls, after re-exports have been followed
 */
export function droppedMessage(call: Call, origin: ImportedName, source: SourceFile): string | undefined {
  if (isRedirect(call, origin)) return unusedMessage(call, source);
  return isErrorClass(call, origin) ? unthrownMessage(call, source) : undefined;
}

/** Returns the calls of imported functions and classes whose value a statement drops. */
export function droppedImportedCalls(scopes: Scopes) {
  const calls: { readonly call: Call; readonly imported: ImportedName }[] = [];
  for (const { node, scope } of nodesOf(scopes, "ExpressionStatement")) {
    for (const call of droppedCalls(node.expression)) {
      const imported = importedNameOf(unwrapExpression(call.callee), scope);
      if (imported) calls.push({ call, imported });
    }
  }
  return calls;
}

/** Returns the calls whose result is the value of an expression, or of an operand that a statement drops with it. */
function droppedCalls(node: Node): Call[] {
  const inner = unwrapExpression(node);
  switch (inner.type) {
    case "CallExpression":
    case "NewExpression":
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
