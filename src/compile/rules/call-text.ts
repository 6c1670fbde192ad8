import type { ESTree } from "vite";
import type { SourceFile } from "../syntax/index.ts";

/** A call of a function, or of a class with `new`. */
export type Call = ESTree.CallExpression | ESTree.NewExpression;

/** The maximum length of a call that is repeated in a message. */
const MAX_CALL_LENGTH = 60;

/** Returns the text of a call for a message, with `…` in place of long arguments. */
export function callText(call: Call, source: SourceFile): string {
  const text = source.code.slice(call.start, call.end);
  if (text.length <= MAX_CALL_LENGTH && !text.includes("\n")) return text;
  return `${call.type === "NewExpression" ? "new " : ""}${calleeText(call, source)}(…)`;
}

/** Returns the text of what a call calls. */
export function calleeText({ callee }: Call, { code }: SourceFile): string {
  return code.slice(callee.start, callee.end);
}
