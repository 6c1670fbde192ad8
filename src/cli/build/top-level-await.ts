import { parseAst } from "vite";

/**
 * Returns whether a module awaits something while it is loaded. When unsure, it returns `true`: for code that cannot be
 * parsed as a module.
 *
 * @param code JavaScript, without types and JSX
 */
export function hasTopLevelAwait(code: string): boolean {
  if (!/\bawait\b/.test(code)) return false;
  try {
    return containsAwait(parseAst(code, { lang: "js", sourceType: "module" }));
  } catch {
    return true;
  }
}

function containsAwait(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(containsAwait);
  if (typeof node !== "object" || node === null || !("type" in node)) return false;
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return false; // parameters of a function at the top level cannot await either
    case "PropertyDefinition":
      return "computed" in node && node.computed === true && "key" in node && containsAwait(node.key);
    case "AwaitExpression":
      return true;
    case "ForOfStatement":
      if ("await" in node && node.await === true) return true;
      break;
    case "VariableDeclaration":
      if ("kind" in node && node.kind === "await using") return true;
  }
  return Object.values(node).some(containsAwait);
}
