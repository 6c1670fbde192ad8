import type { Endpoint, ModuleFacts } from "../modules/index.ts";
import { CompileError, isFunctionNode, type SourceFile, stringValue, unwrapExpression } from "../syntax/index.ts";

/** What pages receive as properties in Next.js, and how to read it here. */
const NEXT_PROPS: Readonly<Record<string, string>> = {
  searchParams: 'Read the query from `request.query`, with `request` of "tsweb".',
  params: 'The function receives the parameters themselves: for the path "/users/:id", write `({ id }) => …`.',
};

/**
 * Rejects a page function that destructures a property that is not a parameter of its path: it would be undefined.
 *
 * @throws CompileError at the property
 */
export function checkPageParameters({ endpoints, source }: ModuleFacts): void {
  for (const endpoint of endpoints) if (endpoint.kind === "page") checkPage(endpoint, source);
}

function checkPage({ call, path }: Endpoint, source: SourceFile): void {
  const last = call.arguments.at(-1);
  const fn = last && unwrapExpression(last);
  const [pattern] = fn && isFunctionNode(fn) ? fn.params : [];
  if (pattern?.type !== "ObjectPattern" || !/^(?:\/(?:[\w.-]*|(?:\*\*)?:[A-Za-z_]\w*\??))+$/.test(path)) return;
  const names = [...path.matchAll(/:([A-Za-z_]\w*)/g)].map(([, name]) => name ?? "");
  for (const property of pattern.properties) {
    if (property.type === "RestElement" || property.computed || property.value.type === "AssignmentPattern") continue;
    const name = property.key.type === "Identifier" ? property.key.name : stringValue(property.key);
    if (name === undefined || names.includes(name)) continue;
    const known = names.length > 0 ? `Its parameters: ${names.join(", ")}.` : `Write it in the path: \`:${name}\`.`;
    const fix = Object.hasOwn(NEXT_PROPS, name) ? NEXT_PROPS[name] : known;
    throw new CompileError(`The path ${JSON.stringify(path)} has no parameter ${name}. ${fix}`, source, property.key);
  }
}
