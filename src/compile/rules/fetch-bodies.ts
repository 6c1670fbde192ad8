import type { ESTree } from "vite";
import type { ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  globalPath,
  type Node,
  nodesOf,
  type Scope,
  type SourceFile,
  unwrapExpression,
} from "../syntax/index.ts";

/**
 * Rejects `fetch(url, { body: { … } })`: the object would be sent as the text `[object Object]`, and a list without its
 * brackets. Only objects and lists that are written there are rejected.
 *
 * @throws CompileError at the object
 */
export function checkFetchBodies({ source, scopes }: ModuleFacts): void {
  if (!/\bfetch\b/.test(source.code) || !/\bbody\b/.test(source.code)) return;
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const body = isFetch(node.callee, scope) ? bodyOf(node) : undefined;
    if (body) throw new CompileError(messageFor(body, source), source, body);
  }
}

function isFetch(callee: Node, scope: Scope): boolean {
  return globalPath(callee, scope)?.join(".") === "fetch";
}

/** Returns the body of a request, if it is an object or a list that is written in its options. */
function bodyOf({ arguments: [, options] }: ESTree.CallExpression): Node | undefined {
  const init = options && unwrapExpression(options);
  if (init?.type !== "ObjectExpression") return undefined;
  let body: Node | undefined;
  for (const property of init.properties) {
    if (property.type === "SpreadElement" || property.computed)
      body = undefined; // may replace it
    else if (property.key.type === "Identifier" && property.key.name === "body")
      body = unwrapExpression(property.value);
  }
  return body?.type === "ObjectExpression" || body?.type === "ArrayExpression" ? body : undefined;
}

function messageFor(body: Node, { code }: SourceFile): string {
  const isList = body.type === "ArrayExpression";
  const text = code.slice(body.start, body.end).replace(/\s+/g, " ");
  const shown = text.length > 40 ? (isList ? "[…]" : "{ … }") : text;
  const sent = isList
    ? "this list is sent as a text without its brackets"
    : 'this object is sent as the text "[object Object]"';
  return (
    `fetch() sends no objects: ${sent}. Write \`body: JSON.stringify(${shown})\` and ` +
    '`headers: { "content-type": "application/json" }`. To call a function of this application, import a server function.'
  );
}
