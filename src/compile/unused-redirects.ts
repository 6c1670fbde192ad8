import type { ESTree } from "vite";
import { importedNameOf } from "./jsx-values.ts";
import { CompileError, type Node, type Scopes, type SourceFile, unwrapExpression, walkScoped } from "./syntax/index.ts";

/** Returns whether a module may import and call `redirect`, without parsing it. Errs towards yes. */
export function mayContainRedirect(code: string): boolean {
  return /["']tsweb["']/.test(code) && /\bimport\b/.test(code) && /\bredirect\b/.test(code);
}

/**
 * Rejects a statement that calls `redirect()` and drops its value: it has no effect, so that a guard that is written
 * like this lets everybody pass. A function of the project that is also named `redirect` is not affected.
 *
 * @throws CompileError at the call
 */
export function checkUnusedRedirects(program: ESTree.Program, source: SourceFile, scopes: Scopes): void {
  if (!mayContainRedirect(source.code)) return;
  walkScoped(program, scopes.module, scopes, (node, scope) => {
    if (node.type !== "ExpressionStatement") return true;
    for (const call of droppedCalls(node.expression)) {
      const imported = importedNameOf(unwrapExpression(call.callee), scope);
      if (imported?.source === "tsweb" && imported.name === "redirect") {
        throw new CompileError(unusedMessage(call, source), source, call);
      }
    }
    return true;
  });
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

function unusedMessage(call: ESTree.CallExpression, { code }: SourceFile): string {
  const name = code.slice(call.callee.start, call.callee.end);
  const text = code.slice(call.start, call.end);
  const fix = text.length > MAX_CALL_LENGTH || text.includes("\n") ? `${name}(…)` : text;
  return `${name}() returns a value and has no effect here. Write \`throw ${fix}\` or \`return ${name}(…)\`.`;
}
