import type MagicString from "magic-string";
import type { ModuleFacts } from "./modules/index.ts";
import { childrenOf, isFunctionNode, type Node, sourceLocation, unwrapExpression } from "./syntax/index.ts";

/** The entry point whose function measures how long a page waits. */
const RUNTIME = "tsweb/jsx-runtime";

/** The length up to which the text of an expression is shown. */
const MAX_TEXT_CHARS = 60;

/**
 * Measures, in development, what the functions of pages wait for: `await figures()` becomes
 * `await waited(figures(), "figures()", 12)`, with the line of the `await`. Positions before an expression change, lines do not. An
 * `await` in an inner function, such as that of a `Later`, belongs to no page.
 *
 * @see src/pages/page-waits.ts
 */
export function emitWaits(text: MagicString, { declarations, source }: ModuleFacts): void {
  let name = "_waited";
  while (source.code.includes(name)) name = `_${name}`;
  let isUsed = false;
  const visit = (node: Node) => {
    if (isFunctionNode(node)) return;
    if (node.type === "AwaitExpression") {
      const { start, end } = node.argument;
      const { line } = sourceLocation(source, node.start);
      text.appendLeft(start, `${name}(`);
      text.appendRight(end, `, ${JSON.stringify(shorten(source.code.slice(start, end)))}, ${line})`);
      isUsed = true;
    }
    for (const child of childrenOf(node)) visit(child);
  };
  for (const { kind, call } of declarations) {
    const last = kind === "page" ? call.arguments.at(-1) : undefined;
    const fn = last && last.type !== "SpreadElement" ? unwrapExpression(last) : undefined;
    if (fn && isFunctionNode(fn) && fn.body) visit(fn.body);
  }
  if (isUsed) text.append(`\n;import { waited as ${name} } from ${JSON.stringify(RUNTIME)};\n`);
}

function shorten(code: string): string {
  const line = code.replace(/\s+/g, " ");
  return line.length <= MAX_TEXT_CHARS ? line : `${line.slice(0, MAX_TEXT_CHARS - 1)}…`;
}
