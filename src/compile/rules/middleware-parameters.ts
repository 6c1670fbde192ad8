import type { ModuleFacts } from "../modules/index.ts";
import {
  CompileError,
  type FunctionNode,
  memberName,
  type Node,
  type Scopes,
  type SourceFile,
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
export function responseCallIn(
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
