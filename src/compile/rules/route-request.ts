import type { Declaration, ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  type FunctionNode,
  isFunctionNode,
  keysReadBy,
  memberName,
  type Node,
  type Scope,
  type Scopes,
  type SourceFile,
  unwrapChain,
  unwrapExpression,
  walkScoped,
} from "../syntax/index.ts";
import { responseCallIn } from "./middleware-parameters.ts";

/** The members of a `ReadableStream`. All others of `request.body` are meant as fields of its JSON. */
const STREAM_MEMBERS = /^(?:locked|cancel|getReader|pipeThrough|pipeTo|tee|values)$/;

/**
 * Rejects `request.body.name` and `request.params.id` in the function of a route, where `request` is a `Request` of the Fetch
 * standard: its body is a stream, and it has no `params`. Also calls of a response, such as `res.json(…)`, which a route does
 * not have. TypeScript reports all of these unless the parameter is `any`.
 *
 * Errs towards silence: functions that are declared elsewhere, other annotations, and requests to which the function assigns,
 * or to which a function that it calls may add `params`.
 *
 * @throws CompileError at the expression
 */
export function checkRouteRequests({ declarations, source, scopes }: ModuleFacts): void {
  for (const declaration of declarations) checkRouteRequest(declaration, source, scopes);
}

function checkRouteRequest({ kind, call }: Declaration, source: SourceFile, scopes: Scopes): void {
  const argument = call.arguments.at(-1);
  const fn = argument && unwrapExpression(argument);
  const request = fn && isFunctionNode(fn) ? fn.params[0] : undefined;
  if (kind !== "route" || !fn || !isFunctionNode(fn)) return;
  rejectResponseCalls(fn, source, scopes);
  if (!request || !isUntyped(request)) return;
  for (const { key, object, at } of keysReadIn(fn, request, scopes)) {
    const fix = object === "body" ? bodyFix(key) : object === "request" && key === "params" ? PARAMS_FIX : undefined;
    if (fix !== undefined) throw new CompileError(fix, source, at);
  }
}

/** Rejects `res.json(…)` of the second parameter: it has the parts of the path, which are texts. */
function rejectResponseCalls(fn: FunctionNode, source: SourceFile, scopes: Scopes): void {
  const [, params] = fn.params;
  const found = params && isUntyped(params) ? responseCallIn(fn, params, scopes) : undefined;
  if (!found) return;
  const { method, at } = found;
  throw new CompileError(
    `A route has no response object: its second argument has the parameters of the path, without ${method}(). Return the ` +
      "response: `return Response.json(data);`, or `return new Response(text, { status: 200 });`.",
    source,
    at,
  );
}

const PARAMS_FIX =
  "A route receives a Request, which has no params. The parameters of the path are in its second argument: " +
  '`route("GET /invoices/:id", async (request, { id }) => …)`.';

function bodyFix(key: string): string | undefined {
  if (STREAM_MEMBERS.test(key) || key in Object.prototype) return undefined;
  return (
    `A route receives a Request, whose body is a stream without ${key}. Read the body first: ` +
    `\`const body = await request.json();\`, and then body.${key}. Read a form with \`await request.formData()\`.`
  );
}

function isUntyped(parameter: Node): parameter is Node & { type: "Identifier" } {
  if (parameter.type !== "Identifier") return false;
  return (parameter.typeAnnotation?.typeAnnotation.type ?? "TSAnyKeyword") === "TSAnyKeyword";
}

/** A key that a function reads of its request, or of the body of it. */
interface RequestKey {
  readonly key: string;
  readonly object: "request" | "body";
  readonly at: Node;
}

/** Returns the keys that are read, without those that the function, or one that it calls, may have added to the request. */
function keysReadIn(fn: FunctionNode, request: Node, scopes: Scopes): RequestKey[] {
  const keys: RequestKey[] = [];
  let isChanged = false;
  let isPassed = false;
  const own = scopes.byNode.get(fn) ?? scopes.module;
  walkScoped(fn.body ?? fn, own, scopes, (node, scope) => {
    if (node.type === "AssignmentExpression") {
      const target = unwrapChain(node.left);
      isChanged ||= objectOf(target.type === "MemberExpression" ? target.object : target, request, scope) !== undefined;
    }
    if (node.type === "CallExpression")
      isPassed ||= node.arguments.some((argument) => objectOf(argument, request, scope) === "request");
    for (const { key, object: value, at } of keysReadBy(node)) {
      const object = objectOf(value, request, scope);
      if (object !== undefined) keys.push({ key, object, at });
    }
    return true;
  });
  if (isChanged) return [];
  return isPassed ? keys.filter(({ object }) => object === "body") : keys;
}

/** Returns whether an expression is the request or its body. */
function objectOf(expression: Node, request: Node, scope: Scope): RequestKey["object"] | undefined {
  const value = unwrapChain(expression);
  if (value.type === "Identifier") {
    const binding = scope.findValue(value.name);
    return binding?.declarations[0] === request && binding.declarations.length === 1 ? "request" : undefined;
  }
  if (value.type !== "MemberExpression" || memberName(value) !== "body") return undefined;
  return objectOf(value.object, request, scope) === "request" ? "body" : undefined;
}
