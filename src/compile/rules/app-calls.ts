import { importedNameOf, type ModuleFacts } from "../modules/index.ts";
import { CompileError, type Node, nodesOf, type Scope, unwrapExpression } from "../syntax/index.ts";

const ROUTE = "Declare `page(path, …)` or `route(…)` in a server module, and list the module in `modules` of new App.";

/** The methods of Express, Fastify and Hono that an `App` does not have, with what to write. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    "listen",
    "Remove this call: `tsweb dev`, `tsweb serve` and `node dist/server.mjs` listen, on the port in the environment " +
      "variable PORT (by default 3000). To run the application in a server of your own, use `node(app)` of tsweb/node.",
  ],
  ["use", "For code that runs before every request, set the option `before` of new App."],
  ...["all", "delete", "get", "options", "patch", "post", "put", "route"].map((name) => [name, ROUTE] as const),
]);

/**
 * Rejects calls of methods that the applications of other frameworks have, such as `app.listen(3000)`, on an `App` that is
 * created in the module.
 *
 * @throws CompileError at the first call
 */
export function checkAppCalls({ scopes, source }: ModuleFacts): void {
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const callee = unwrapExpression(node.callee);
    if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") continue;
    const { name } = callee.property;
    const advice = ADVICE.get(name);
    if (advice === undefined || !isApp(unwrapExpression(callee.object), scope)) continue;
    throw new CompileError(`An App has no ${name}(). ${advice}`, source, callee.property);
  }
}

/** Returns whether an expression is `new App(…)`, or a constant with this value. */
function isApp(node: Node, scope: Scope): boolean {
  if (node.type === "NewExpression") {
    const created = importedNameOf(unwrapExpression(node.callee), scope);
    return created?.source === "tsweb" && created.name === "App";
  }
  const binding = node.type === "Identifier" ? scope.findValue(node.name) : undefined;
  const [declaration] = binding?.kind === "const" ? binding.declarations : [];
  if (!binding || declaration?.type !== "VariableDeclarator" || declaration.id.type !== "Identifier") return false;
  const value = declaration.init && unwrapExpression(declaration.init);
  return value?.type === "NewExpression" && isApp(value, binding.scope);
}
