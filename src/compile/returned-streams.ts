import type { ESTree } from "vite";
import { CompileError } from "./errors.ts";
import type { ModuleFacts } from "./module.ts";
import type { Scope } from "./scope.ts";
import { type FunctionNode, isFunction, type Node, unwrap, walk } from "./walk.ts";
import { originOf, type World } from "./world.ts";

/** The types of what is read value by value. */
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
 * Refuses a server function that gives a stream without being written with `function*`: its callers
 * learn from that star, and from nothing else, that its values travel one by one. What the text does not
 * tell is refused when it is called.
 *
 * @throws CompileError at the type or the expression that is the stream
 */
export async function checkReturnedStreams(facts: ModuleFacts, world: World): Promise<void> {
  for (const [index, { name }] of facts.functions.entries()) {
    const fn = facts.declared[index];
    if (!fn || fn.generator) continue;
    const at = await streamIn(fn, facts, world);
    if (!at) continue;
    throw new CompileError(
      `The server function "${name}" gives a stream, so it must be written with function*, by which its callers know: ` +
        "write `async function* (…) { yield* …; }`.",
      facts.source,
      at,
    );
  }
}

async function streamIn(fn: FunctionNode, facts: ModuleFacts, world: World): Promise<Node | undefined> {
  const scope = facts.scopes.of.get(fn) ?? facts.scopes.module;
  const annotation = fn.returnType?.typeAnnotation;
  if (annotation && isStreamType(annotation, scope)) return annotation;
  for (const returned of returnedBy(fn)) {
    const value = withoutAwait(returned);
    if (value.type === "CallExpression" && (await makesStream(value.callee, { facts, scope, world }))) return returned;
  }
  return undefined;
}

function isStreamType(type: Node, scope: Scope): boolean {
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return false;
  const { name } = type.typeName;
  const binding = scope.type(name);
  if (binding) return binding.imported?.source === "tsweb" && binding.imported.name === "Stream";
  const [argument] = type.typeArguments?.params ?? [];
  if (name === "Promise") return argument !== undefined && isStreamType(argument, scope);
  return STREAM_TYPES.has(name);
}

/** Gives what a function returns, wherever in its own body. */
function returnedBy({ body }: FunctionNode): Node[] {
  if (!body) return [];
  if (body.type !== "BlockStatement") return [body];
  const found: Node[] = [];
  walk(body, (node) => {
    if (node.type === "ReturnStatement" && node.argument) found.push(node.argument);
    return !isFunction(node);
  });
  return found;
}

function withoutAwait(node: Node): Node {
  const inner = unwrap(node);
  return inner.type === "AwaitExpression" ? unwrap(inner.argument) : inner;
}

interface Place {
  readonly facts: ModuleFacts;
  readonly scope: Scope;
  readonly world: World;
}

/** Answers whether a call of this gives a stream: a generator, or a server function that streams. */
async function makesStream(callee: ESTree.Expression | ESTree.Super, place: Place): Promise<boolean> {
  const node = unwrap(callee);
  if (isFunction(node)) return node.generator === true;
  if (node.type === "Identifier") return namesStream(node.name, place);
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return false;
  const object = unwrap(node.object);
  if (object.type !== "Identifier") return false;
  const imported = place.scope.value(object.name)?.imported;
  if (imported?.name === "*") return importsStream(imported.source, node.property.name, place);
  return node.property.name === "named" && namesStream(object.name, place);
}

async function namesStream(name: string, { facts, scope, world }: Place): Promise<boolean> {
  const binding = scope.value(name);
  if (!binding || binding.reassigned) return false;
  const { imported } = binding;
  if (imported) return importsStream(imported.source, imported.name, { facts, scope, world });
  return binding.scope.isModule ? declaresStream(name, facts) : binding.nodes.some((declared) => isGenerator(declared));
}

async function importsStream(source: string, name: string, { facts, world }: Place): Promise<boolean> {
  const origin = await originOf(await world.resolve(source, facts.source.file), name, world);
  const exported = origin?.facts.exports.named.find((each) => each.name === origin.name);
  return origin !== undefined && exported?.local !== undefined && declaresStream(exported.local, origin.facts);
}

/** Answers whether what a module calls by a name is a generator, or a server function that is one. */
function declaresStream(local: string, facts: ModuleFacts): boolean {
  const marks = facts.marks.filter((mark) => mark.kind === "server");
  if (facts.functions[marks.findIndex((mark) => mark.local === local)]?.stream) return true;
  return (facts.scopes.module.value(local)?.nodes ?? []).some((declared) => isGenerator(declared));
}

function isGenerator(declared: Node): boolean {
  if (isFunction(declared)) return declared.generator === true;
  if (declared.type !== "VariableDeclarator" || !declared.init) return false;
  const value = unwrap(declared.init);
  return isFunction(value) && value.generator === true;
}
