/** Reads the titles of tests from the source of their files. */
import { parseAst } from "vite";

/** Functions that declare one test. `wireCase` declares those of `tests/conformance/wire`, the last two those of `tests/engines`. */
const DECLARE_TEST = ["it", "test", "wireCase", "scenario", "essential"] as const;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

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
    if ("value" in title && typeof title.value === "string") titles.push(title.value);
    if (title.type === "TemplateLiteral") titles.push(code.slice(title.start + 1, title.end - 1));
  });
  return titles;
}

/** Returns the name of a function such as `const rejects = (title, …) => wireCase(title, …)`. */
function titledHelper(node: Node): string | undefined {
  if (node.type !== "VariableDeclarator" || !("id" in node) || !("init" in node)) return undefined;
  const { id, init } = node;
  if (!isNode(id) || !isNode(init) || !("params" in init) || !Array.isArray(init.params)) return undefined;
  const [parameter] = init.params;
  let isHelper = false;
  visit("body" in init ? init.body : null, (inner) => {
    const title = firstArgument(inner, new Set(DECLARE_TEST));
    if (title && isNode(parameter) && nameOf(title) === nameOf(parameter)) isHelper ||= nameOf(title) !== undefined;
  });
  return isHelper ? nameOf(id) : undefined;
}

/** Returns the first argument of a call to one of these functions. */
function firstArgument(node: Node, functions: ReadonlySet<string>): Node | undefined {
  if (node.type !== "CallExpression" || !("callee" in node) || !("arguments" in node)) return undefined;
  if (!isNode(node.callee) || !functions.has(rootName(node.callee) ?? "")) return undefined;
  const first: unknown = Array.isArray(node.arguments) ? node.arguments[0] : undefined;
  return isNode(first) ? first : undefined;
}

/** Returns `it` for `it`, `it.runIf(…)` and `it.each(…)`. */
function rootName(callee: Node): string | undefined {
  if ("object" in callee && isNode(callee.object)) return rootName(callee.object);
  return "callee" in callee && isNode(callee.callee) ? rootName(callee.callee) : nameOf(callee);
}

function nameOf(node: Node): string | undefined {
  return node.type === "Identifier" && "name" in node ? String(node.name) : undefined;
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, onNode);
  if (!isNode(value)) return;
  onNode(value);
  for (const child of Object.values(value)) visit(child, onNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;
}
