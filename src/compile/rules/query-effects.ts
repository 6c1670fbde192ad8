import { importedNameOf, type ModuleFacts, tswebMemberOf } from "../modules/index.ts";
import { CompileError, type Node, type Scope, unwrapChain, walkScoped } from "../syntax/index.ts";

/** The functions of `tsweb` that change something, or belong to the request of one client. */
const FUNCTIONS: ReadonlySet<string> = new Set(["publish", "revalidate", "listen", "channel", "presence", "send_file"]);
const SESSION_CHANGES: ReadonlySet<string> = new Set(["login", "logout", "revoke"]);

/**
 * Rejects what fails in every run of a query, because queries only read, outside every request: `publish`, sign-ins, `request`.
 * What a function does that the query calls is found when it runs.
 *
 * @throws CompileError at the call, or at the member of `request`
 */
export function checkQueryEffects({ queries, queryNodes, scopes, source }: ModuleFacts): void {
  for (const [index, { name }] of queries.entries()) {
    const fn = queryNodes[index];
    if (!fn) continue;
    walkScoped(fn, scopes.byNode.get(fn) ?? scopes.module, scopes, (node, scope) => {
      const problem = problemOf(node, scope);
      if (problem) throw new CompileError(`The query "${name}" ${problem}`, source, node);
      return true;
    });
  }
}

function problemOf(node: Node, scope: Scope): string | undefined {
  if (node.type === "MemberExpression") {
    const { object, member } = tswebMemberOf(node, scope) ?? {};
    if (object !== "request") return undefined;
    return `reads request.${member}, but it runs outside every request: its value is for all who see the same. Pass what it needs as an argument of live().`;
  }
  if (node.type !== "CallExpression") return undefined;
  const callee = unwrapChain(node.callee);
  const imported = importedNameOf(callee, scope);
  const { object, member = "" } = tswebMemberOf(callee, scope) ?? {};
  const called =
    object === "session" && SESSION_CHANGES.has(member)
      ? `session.${member}`
      : imported?.source === "tsweb" && FUNCTIONS.has(imported.name)
        ? imported.name
        : undefined;
  return called === undefined
    ? undefined
    : `calls ${called}(), but a query only reads: it runs again after each message, outside every request. Call it in the page or in the server function that makes the change.`;
}
