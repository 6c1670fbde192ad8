import type { Declaration, Endpoint, ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  type FunctionNode,
  isFunctionNode,
  keyName,
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

/** Methods of the response of Express and Node. No argument of a call has them, because arguments are data. */
const RESPONSE_METHODS: ReadonlySet<string> = new Set([
  ...["json", "send", "sendStatus", "status", "redirect", "render", "cookie", "end", "writeHead", "setHeader"],
]);

/**
 * Rejects a server function with the parameters of a request handler of Express: `(req, res)`, or `(request, response)` if a
 * method of the response is called. Parameters with types are accepted: they are meant as arguments.
 *
 * @throws CompileError at the first parameter
 */
export function checkMiddlewareParameters({ functions, functionNodes, source, scopes }: ModuleFacts): void {
  for (const [index, { name }] of functions.entries()) {
    const fn = functionNodes[index];
    if (fn) rejectMiddlewareParameters(name, fn, source, scopes);
  }
}

function rejectMiddlewareParameters(name: string, fn: FunctionNode, source: SourceFile, scopes: Scopes): void {
  const [request, response] = fn.params;
  const names = [untypedName(request), untypedName(response)].join(", ");
  const isMiddleware =
    names === "req, res" ||
    (names === "request, response" && response && responseCallIn(fn, response, scopes) !== undefined);
  if (!isMiddleware || !request) return;
  throw new CompileError(
    `The server function "${name}" has the parameters (${names}) of a request handler of Express. The parameters of a server ` +
      `function are the arguments of its caller, and it returns the result: \`${name} = server(async (text: string) => …)\`. ` +
      'The headers and cookies are in `request` of "tsweb". route() receives the request itself.',
    source,
    request,
  );
}

/** Returns the name of a parameter that has no type, or the type `any`; an empty text for others. */
function untypedName(parameter: Node | undefined): string {
  if (parameter?.type !== "Identifier") return "";
  const type = parameter.typeAnnotation?.typeAnnotation.type ?? "TSAnyKeyword";
  return type === "TSAnyKeyword" ? parameter.name : "";
}

/** Returns the first call of a method of a response on a parameter of a function, such as `res.json(…)`. */
function responseCallIn(
  fn: FunctionNode,
  response: Node,
  scopes: Scopes,
): { readonly method: string; readonly at: Node } | undefined {
  const own = scopes.byNode.get(fn) ?? scopes.module;
  let found: { readonly method: string; readonly at: Node } | undefined;
  walkScoped(fn.body ?? fn, own, scopes, (node, scope) => {
    if (node.type !== "CallExpression") return !found;
    const callee = unwrapExpression(node.callee);
    const method = callee.type === "MemberExpression" ? (memberName(callee) ?? "") : "";
    if (callee.type !== "MemberExpression" || !RESPONSE_METHODS.has(method)) return !found;
    const object = unwrapExpression(callee.object);
    const binding = object.type === "Identifier" ? scope.findValue(object.name) : undefined;
    if (binding?.declarations[0] === response && !binding.reassigned) found ??= { method, at: callee };
    return !found;
  });
  return found;
}

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
    const name = keyName(property);
    if (name === undefined || names.includes(name)) continue;
    const known = names.length > 0 ? `Its parameters: ${names.join(", ")}.` : `Write it in the path: \`:${name}\`.`;
    const fix = Object.hasOwn(NEXT_PROPS, name) ? NEXT_PROPS[name] : known;
    throw new CompileError(`The path ${JSON.stringify(path)} has no parameter ${name}. ${fix}`, source, property.key);
  }
}
