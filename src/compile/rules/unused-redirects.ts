import type { ImportedName, SourceFile } from "../syntax/index.ts";
import { type Call, calleeText, callText } from "./call-text.ts";

/** Returns whether a module may import and call `redirect`, also by way of another module, without parsing it. */
export function mayContainRedirect(code: string): boolean {
  return /\bimport\b/.test(code) && /\bredirect\b/.test(code);
}

/** Returns whether an expression calls `redirect` of tsweb. */
export function isRedirect({ type }: Call, { source, name }: ImportedName): boolean {
  return type === "CallExpression" && source === "tsweb" && name === "redirect";
}

/** Returns the error message for a redirect whose value is dropped. */
export function unusedMessage(call: Call, source: SourceFile): string {
  const name = calleeText(call, source);
  return (
    `${name}() returns a value and has no effect here. Write \`throw ${callText(call, source)}\` or ` +
    `\`return ${name}(…)\`.`
  );
}
