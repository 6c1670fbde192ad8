/** Reads the titles of tests from the source of their files. */
import { parseAst } from "vite";
import { isSyntaxNode, type SyntaxNode } from "#test/syntax-nodes";

/** Functions that declare one test. `wireCase` declares those of `tests/conformance/wire`, the last two those of `tests/engines`. */
const DECLARE_TEST = ["it", "test", "wireCase", "scenario", "essential"] as const;

/**
 * Returns the title of every test that a file declares: `it("title", …)`, `it.each(…)("title", …)` and the like, also
 * through a function of the file that passes its first parameter on as the title. A template literal is returned as
 * it is written. Comments and other strings are not titles.
 *
 * @param code TypeScript
 */
export function testTitles(code: string): string[] {
  const program = parseAst(code, { lang: "ts" });
  const declare = new Set<string>(DECLARE_TEST);
  visit(program, (node) => {
    const helper = titledHelper(node);
    if (helper) declare.add(helper);
  });
  const titles: string[] = [];
  visit(program, (node) => {
    const title = firstArgument(node, declare);
    if (!title) return;
    if (typeof title.value === "string") titles.push(title.value);
    if (title.type === "TemplateLiteral") titles.push(code.slice(title.start + 1, title.end - 1));
  });
  return titles;
}

/** Returns the name of a function such as `const rejects = (title, …) => wireCase(title, …)`. */
function titledHelper(node: SyntaxNode): string | undefined {
  if (node.type !== "VariableDeclarator") return undefined;
  const { id, init } = node;
  if (!isSyntaxNode(id) || !isSyntaxNode(init) || !Array.isArray(init.params)) return undefined;
  const [parameter] = init.params;
  let isHelper = false;
  visit(init.body, (inner) => {
    const title = firstArgument(inner, new Set(DECLARE_TEST));
    if (title && isSyntaxNode(parameter) && nameOf(title) === nameOf(parameter))
      isHelper ||= nameOf(title) !== undefined;
  });
  return isHelper ? nameOf(id) : undefined;
}

/** Returns the first argument of a call to one of these functions. */
function firstArgument(node: SyntaxNode, functions: ReadonlySet<string>): SyntaxNode | undefined {
  if (node.type !== "CallExpression") return undefined;
  if (!isSyntaxNode(node.callee) || !functions.has(rootName(node.callee) ?? "")) return undefined;
  const first: unknown = Array.isArray(node.arguments) ? node.arguments[0] : undefined;
  return isSyntaxNode(first) ? first : undefined;
}

/** Returns `it` for `it`, `it.runIf(…)` and `it.each(…)`. */
function rootName(callee: SyntaxNode): string | undefined {
  if (isSyntaxNode(callee.object)) return rootName(callee.object);
  return isSyntaxNode(callee.callee) ? rootName(callee.callee) : nameOf(callee);
}

function nameOf(node: SyntaxNode): string | undefined {
  return node.type === "Identifier" ? String(node.name) : undefined;
}

function visit(value: unknown, onNode: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, onNode);
  if (!isSyntaxNode(value)) return;
  onNode(value);
  for (const child of Object.values(value)) visit(child, onNode);
}
