import type { ESTree } from "vite";
import { type ModuleFacts, type ModuleResolver, resolveImported } from "../modules/index.ts";
import {
  CompileError,
  declaredValue,
  type FunctionNode,
  type ImportedName,
  isFunctionNode,
  type Node,
  type Scope,
  unwrapExpression,
  walk,
} from "../syntax/index.ts";

/** The global types of streams. */
const STREAM_TYPES: ReadonlySet<string> = new Set([
  "Generator",
  "AsyncGenerator",
  "Iterator",
  "AsyncIterator",
  "IterableIterator",
  "AsyncIterableIterator",
  "AsyncIterable",
]);

/**
 * Rejects a server function that returns a stream but is not written with `function*`: only the `*` in the source makes
 * its stub a stream. A stream that the source does not show is rejected when the function is called.
 *
 * @throws CompileError at the return type or the returned expression
 * @see docs/protocol.md 6.5
 */
export async function checkReturnedStreams(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  for (const [index, { name }] of facts.functions.entries()) {
    const fn = facts.functionNodes[index];
    if (!fn || fn.generator) continue;
    const at = await findReturnedStream(fn, facts, resolver);
    if (!at) continue;
    throw new CompileError(
      `The server function "${name}" returns a stream, so it must be written with function*. Its callers are compiled from that. ` +
        "Write `async function* (…) { yield* …; }`.",
      facts.source,
      at,
    );
  }
}

async function findReturnedStream(
  fn: FunctionNode,
  facts: ModuleFacts,
  resolver: ModuleResolver,
): Promise<Node | undefined> {
  const scope = facts.scopes.byNode.get(fn) ?? facts.scopes.module;
  const annotation = fn.returnType?.typeAnnotation;
  if (annotation && isStreamType(annotation, scope)) return annotation;
  const bodyScope = (fn.body?.type === "BlockStatement" && facts.scopes.byNode.get(fn.body)) || scope;
  for (const returned of returnedExpressions(fn)) {
    const value = withoutAwait(returned);
    if (value.type === "CallExpression" && (await returnsStream(value.callee, { facts, scope: bodyScope, resolver })))
      return returned;
  }
  return undefined;
}

function isStreamType(type: Node, scope: Scope): boolean {
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return false;
  const { name } = type.typeName;
  const binding = scope.findType(name);
  if (binding) return binding.imported?.source === "tsweb" && binding.imported.name === "Stream";
  const [argument] = type.typeArguments?.params ?? [];
  if (name === "Promise") return argument !== undefined && isStreamType(argument, scope);
  return STREAM_TYPES.has(name);
}

/** Returns the expressions that a function returns, those of nested functions excluded. */
function returnedExpressions({ body }: FunctionNode): Node[] {
  if (!body) return [];
  if (body.type !== "BlockStatement") return [body];
  const expressions: Node[] = [];
  walk(body, (node) => {
    if (node.type === "ReturnStatement" && node.argument) expressions.push(node.argument);
    return !isFunctionNode(node);
  });
  return expressions;
}

function withoutAwait(node: Node): Node {
  const inner = unwrapExpression(node);
  return inner.type === "AwaitExpression" ? unwrapExpression(inner.argument) : inner;
}

interface CalleeContext {
  readonly facts: ModuleFacts;
  readonly scope: Scope;
  readonly resolver: ModuleResolver;
}

/** Returns whether a call of this callee returns a stream: it is a generator function or a streaming server function. */
async function returnsStream(callee: ESTree.Expression | ESTree.Super, context: CalleeContext): Promise<boolean> {
  const node = unwrapExpression(callee);
  if (isFunctionNode(node)) return node.generator === true;
  if (node.type === "Identifier") return isNamedStream(node.name, context);
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return false;
  const object = unwrapExpression(node.object);
  if (object.type !== "Identifier") return false;
  const imported = context.scope.findValue(object.name)?.imported;
  if (imported?.name === "*") return isImportedStream({ ...imported, name: node.property.name }, context);
  return node.property.name === "named" && isNamedStream(object.name, context);
}

async function isNamedStream(name: string, { facts, scope, resolver }: CalleeContext): Promise<boolean> {
  const binding = scope.findValue(name);
  if (!binding || binding.reassigned) return false;
  const { imported } = binding;
  if (imported) return isImportedStream(imported, { facts, scope, resolver });
  return binding.scope.isModule ? isDeclaredStream(name, facts) : binding.declarations.some(isGenerator);
}

async function isImportedStream(imported: ImportedName, { facts, resolver }: CalleeContext): Promise<boolean> {
  const resolved = await resolveImported(imported, facts, resolver);
  return resolved?.local !== undefined && isDeclaredStream(resolved.local, resolved.facts);
}

/** Returns whether a local name of a module is a generator function or a streaming server function. */
function isDeclaredStream(local: string, facts: ModuleFacts): boolean {
  const declared = facts.declarations.find((each) => each.kind === "server" && each.local === local);
  if (facts.functions.find(({ name }) => name === declared?.name)?.stream) return true;
  return (facts.scopes.module.findValue(local)?.declarations ?? []).some(isGenerator);
}

function isGenerator(node: Node): boolean {
  const value = declaredValue(node);
  return value !== undefined && isFunctionNode(value) && value.generator === true;
}
