import type { ModuleFacts } from "../modules/index.ts";
import { CompileError, isFunctionNode, unwrapExpression } from "../syntax/index.ts";

/**
 * Rejects an async or generator view: rendering is synchronous.
 *
 * @throws CompileError at the function
 */
export function checkAsyncViews({ declarations, scopes, source }: ModuleFacts): void {
  for (const { kind, name, call } of declarations) {
    const argument = kind === "view" ? call.arguments.at(-1) : undefined;
    const inner = argument && unwrapExpression(argument);
    const fn =
      inner?.type === "Identifier"
        ? scopes.module.findValue(inner.name)?.declarations.find((node) => isFunctionNode(node))
        : inner;
    if (!argument || !fn || !isFunctionNode(fn) || !(fn.async || fn.generator)) continue;
    throw new CompileError(
      `The view "${name}" is ${fn.generator ? "a generator" : "async"}, but rendering is synchronous. Load its data in the page function and pass it as a prop.`,
      source,
      argument,
    );
  }
}
