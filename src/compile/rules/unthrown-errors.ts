import type { ImportedName, SourceFile } from "../syntax/index.ts";
import { type Call, calleeText, callText } from "./call-text.ts";

/** The entry points that export an error class which applications throw. */
const ENTRY_POINTS: ReadonlySet<string> = new Set(["tsweb", "tsweb/browser", "tsweb/client", "tsweb/testing"]);

const ERROR_CLASSES: ReadonlySet<string> = new Set(["NotFound", "RPCError", "ValueError"]);

/** Returns whether a module may use an error class of tsweb, without parsing it. */
export function mayContainErrorClass(code: string): boolean {
  return /["']tsweb(?:\/\w+)?["']/.test(code) && /\b(?:NotFound|RPCError|ValueError)\b/.test(code);
}

/** Returns whether an expression creates an error of tsweb. */
export function isErrorClass({ type }: Call, { source, name }: ImportedName): boolean {
  return type === "NewExpression" && ENTRY_POINTS.has(source) && ERROR_CLASSES.has(name);
}

/** Returns the error message for an error that is created and dropped. */
export function unthrownMessage(call: Call, source: SourceFile): string {
  const name = calleeText(call, source);
  return `This ${name} is created and not thrown, so it has no effect. Throw it: \`throw ${callText(call, source)}\`.`;
}
