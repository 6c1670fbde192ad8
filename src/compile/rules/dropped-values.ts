import type { ESTree } from "vite";
import { importedNameOf, type ModuleFacts, type ModuleResolver, originOf } from "../modules/index.ts";
import {
  CompileError,
  type ImportedName,
  type Node,
  nodesOf,
  type Scopes,
  type SourceFile,
  unwrapExpression,
} from "../syntax/index.ts";

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
 * Rejects a statement that drops the value of `redirect()`, or a new error of tsweb, where modules of the project re-export
 * them, also under another name. `checkDroppedValues` rejects it where they are imported from tsweb.
 *
 * @throws CompileError at the expression
 */
export async function checkReExportedValues(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const { source, scopes } = facts;
  for (const { call, imported } of droppedImportedCalls(scopes)) {
    const message = droppedMessage(call, await originOf(imported, source.file, resolver), source);
    if (message !== undefined) throw new CompileError(message, source, call);
  }
}

/**
 * Returns the error message for an expression whose value is dropped; `undefined` if it needs no value.
 *
 * @param origin the function or class that it calls, after re-exports have been followed
 */
function droppedMessage(call: Call, origin: ImportedName, source: SourceFile): string | undefined {
  if (isRedirect(call, origin)) return unusedMessage(call, source);
  return isErrorClass(call, origin) ? unthrownMessage(call, source) : undefined;
}

/** Returns the calls of imported functions and classes whose value a statement drops. */
function droppedImportedCalls(scopes: Scopes) {
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

/** A call of a function, or of a class with `new`. */
type Call = ESTree.CallExpression | ESTree.NewExpression;

/** The maximum length of a call that is repeated in a message. */
const MAX_CALL_LENGTH = 60;

/** Returns the text of a call for a message, with `…` in place of long arguments. */
function callText(call: Call, source: SourceFile): string {
  const text = source.code.slice(call.start, call.end);
  if (text.length <= MAX_CALL_LENGTH && !text.includes("\n")) return text;
  return `${call.type === "NewExpression" ? "new " : ""}${calleeText(call, source)}(…)`;
}

/** Returns the text of what a call calls. */
function calleeText({ callee }: Call, { code }: SourceFile): string {
  return code.slice(callee.start, callee.end);
}

/** Returns whether a module may import and call `redirect`, also by way of another module, without parsing it. */
function mayContainRedirect(code: string): boolean {
  return /\bimport\b/.test(code) && /\bredirect\b/.test(code);
}

/** Returns whether an expression calls `redirect` of tsweb. */
function isRedirect({ type }: Call, { source, name }: ImportedName): boolean {
  return type === "CallExpression" && source === "tsweb" && name === "redirect";
}

/** Returns the error message for a redirect whose value is dropped. */
function unusedMessage(call: Call, source: SourceFile): string {
  const name = calleeText(call, source);
  return (
    `${name}() returns a value and has no effect here. Write \`throw ${callText(call, source)}\` or ` +
    `\`return ${name}(…)\`.`
  );
}

/** The entry points that export an error class which applications throw. */
const ENTRY_POINTS: ReadonlySet<string> = new Set(["tsweb", "tsweb/browser", "tsweb/client", "tsweb/testing"]);

const ERROR_CLASSES: ReadonlySet<string> = new Set(["NotFound", "RPCError", "ValueError"]);

/** Returns whether a module may use an error class of tsweb, without parsing it. */
function mayContainErrorClass(code: string): boolean {
  return /["']tsweb(?:\/\w+)?["']/.test(code) && /\b(?:NotFound|RPCError|ValueError)\b/.test(code);
}

/** Returns whether an expression creates an error of tsweb. */
function isErrorClass({ type }: Call, { source, name }: ImportedName): boolean {
  return type === "NewExpression" && ENTRY_POINTS.has(source) && ERROR_CLASSES.has(name);
}

/** Returns the error message for an error that is created and dropped. */
function unthrownMessage(call: Call, source: SourceFile): string {
  const name = calleeText(call, source);
  return `This ${name} is created and not thrown, so it has no effect. Throw it: \`throw ${callText(call, source)}\`.`;
}
