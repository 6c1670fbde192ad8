import { importedNameOf, type ModuleFacts, type ModuleResolver, resolveExport } from "../modules/index.ts";
import { CompileError, memberName, type Node, nodesOf, type Scope, unwrapChain } from "../syntax/index.ts";

/** The methods of the procedures of tRPC and others. A server function in browser code has none of them. */
const CLIENT_METHODS = /^(?:mutate|mutateAsync|query|use(?:Suspense|Infinite)?Query|useMutation)$/;

/**
 * Rejects calls of methods that server functions have in other frameworks, such as `sign.mutate(…)`, in modules that browsers
 * load.
 *
 * @throws CompileError at the method
 */
export async function checkStubMembers(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const { isServerModule, source, scopes } = facts;
  if (isServerModule || !/\b(?:mutate|mutateAsync|query|use\w*(?:Query|Mutation))\b/.test(source.code)) return;
  const calls: { readonly callee: Node & { type: "MemberExpression" }; readonly scope: Scope }[] = [];
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const callee = unwrapChain(node.callee);
    if (callee.type === "MemberExpression" && CLIENT_METHODS.test(memberName(callee) ?? ""))
      calls.push({ callee, scope });
  }
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
