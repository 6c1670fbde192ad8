import type { ESTree } from "vite";
import { importedNameOf, locationIn, type ModuleFacts, type ModuleResolver } from "../modules/index.ts";
import { type Node, nodesOf, unwrapExpression } from "../syntax/index.ts";

/** From this number of seconds on, a time limit was probably meant in milliseconds. */
const MIN_SUSPICIOUS_SECONDS = 1_000;

/** Returns a warning for each `rpc_timeout` that was probably meant in milliseconds. */
export function timeLimitWarnings(facts: ModuleFacts, { root }: Pick<ModuleResolver, "root">): string[] {
  const { scopes, source } = facts;
  if (!source.code.includes("rpc_timeout")) return [];
  const warnings: string[] = [];
  for (const { node, scope } of nodesOf(scopes, "CallExpression", "NewExpression")) {
    if (importedNameOf(unwrapExpression(node.callee), scope)?.source !== "tsweb") continue;
    for (const { value } of node.arguments.flatMap(timeLimits)) {
      const location = locationIn(facts, value.start, root);
      const seconds = Number(source.code.slice(value.start, value.end).replaceAll("_", ""));
      warnings.push(
        `\`rpc_timeout\` at ${location} is ${seconds} seconds, which are ${Math.round(seconds / 60)} minutes. If milliseconds are ` +
          `meant, write rpc_timeout: ${seconds / 1_000}. Otherwise write the product, for example 20 * 60.`,
      );
    }
  }
  return warnings;
}

/** Returns the suspicious time limits in an object of options. */
function timeLimits(argument: Node): ESTree.ObjectProperty[] {
  const options = unwrapExpression(argument);
  if (options.type !== "ObjectExpression") return [];
  return options.properties.filter((property) => property.type !== "SpreadElement").filter(isSuspicious);
}

function isSuspicious({ key, value }: ESTree.ObjectProperty): boolean {
  const isLimit = key.type === "Identifier" && key.name === "rpc_timeout";
  return (
    isLimit && value.type === "Literal" && typeof value.value === "number" && value.value >= MIN_SUSPICIOUS_SECONDS
  );
}
