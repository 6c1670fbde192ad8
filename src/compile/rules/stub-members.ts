import { importedNameOf, type ModuleFacts, type ModuleResolver, resolveExport, unwrapChain } from "../modules/index.ts";
import { CompileError, memberName, type Node, type Scope, walkScoped } from "../syntax/index.ts";

/** The methods of the procedures of tRPC and others. A server function in browser code has none of them. */
const CLIENT_METHODS = /^(?:mutate|mutateAsync|query|use(?:Suspense|Infinite)?Query|useMutation)$/;

/**
 * Rejects calls of methods that server functions have in other frameworks, such as `sign.mutate(…)`, in modules that browsers
 * load.
 *
 * @throws CompileError at the method
 */
export async function checkStubMembers(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const { isServerModule, source, program, scopes } = facts;
  if (isServerModule || !/\b(?:mutate|mutateAsync|query|use\w*(?:Query|Mutation))\b/.test(source.code)) return;
  const calls: { readonly callee: Node & { type: "MemberExpression" }; readonly scope: Scope }[] = [];
  walkScoped(program, scopes.module, scopes, (node, scope) => {
    const callee = node.type === "CallExpression" ? unwrapChain(node.callee) : undefined;
    if (callee?.type === "MemberExpression" && CLIENT_METHODS.test(memberName(callee) ?? ""))
      calls.push({ callee, scope });
    return true;
  });
  for (const { callee, scope } of calls) {
    const object = unwrapChain(callee.object);
    const imported = importedNameOf(object, scope);
    if (!imported) continue;
    const resolved = await resolveExport(await resolver.resolve(imported.source, source.file), imported.name, resolver);
    const declared = resolved?.facts.functions.find(({ name }) => name === resolved.name);
    if (!declared) continue;
    const name = source.code.slice(object.start, object.end);
    const call = `await ${name}(${declared.params.map((parameter) => parameter.name).join(", ")})`;
    throw new CompileError(
      `${name} has no ${memberName(callee)}. It is called like a function: \`${call}\`, in an event handler or in on_mount.`,
      source,
      callee,
    );
  }
}
