import type { ESTree } from "vite";
import {
  type FoundComponent,
  findComponents,
  importedNameOf,
  type ModuleFacts,
  type ModuleResolver,
  resolveExport,
} from "../modules/index.ts";
import {
  CompileError,
  expressionsIn,
  type ImportedName,
  isFunctionNode,
  memberName,
  memberPath,
  type Node,
  type Scope,
  unwrapExpression,
  walk,
} from "../syntax/index.ts";

/**
 * Rejects calls in the body of a component that start something at each rendering, also on the server: timers, listeners of
 * the window and the document, connections, requests and calls of server functions. They belong into `on_mount`.
 *
 * Only calls that each rendering makes are rejected. Those in a nested function, in a condition or after a `return` may run
 * once, or later.
 *
 * @throws CompileError at the call
 */
export async function checkRenderEffects(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  if (facts.isServerModule) return;
  for (const component of findComponents(facts)) {
    for (const call of unconditionalCalls(component, facts)) {
      const message = globalCallMessage(call) ?? (await serverCallMessage(call, facts, resolver));
      if (message) throw new CompileError(message, facts.source, call.node);
    }
  }
}

/** A call that each rendering of a component makes. */
interface RenderCall {
  readonly node: Node & { type: "CallExpression" | "NewExpression" };
  readonly component: string;
  readonly scope: Scope;
  /** Whether it is made in one environment only, after a test such as `typeof window !== "undefined"`. */
  readonly isGuarded: boolean;
}

function unconditionalCalls({ fn, name }: FoundComponent, { scopes }: ModuleFacts): RenderCall[] {
  const found: RenderCall[] = [];
  const visit = (node: Node, outer: Scope, isGuarded: boolean) => {
    if (isFunctionNode(node) || node.type === "ClassExpression" || node.type === "ClassDeclaration") return;
    const scope = scopes.byNode.get(node) ?? outer;
    if (node.type === "CallExpression" || node.type === "NewExpression")
      found.push({ node, component: name, scope, isGuarded });
    const { always, guarded } = evaluatedParts(node, scope);
    for (const child of always) visit(child, scope, isGuarded);
    for (const child of guarded) visit(child, scope, true);
  };
  const scope = scopes.byNode.get(fn) ?? scopes.module;
  if (fn.body) visit(fn.body, scope, false);
  return found;
}

/** The parts of a node that are evaluated whenever the node is, and those that are evaluated in one environment. */
interface EvaluatedParts {
  readonly always: readonly Node[];
  readonly guarded: readonly Node[];
}

function evaluatedParts(node: Node, scope: Scope): EvaluatedParts {
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return { always: [node.test], guarded: isTypeofTest(node.test, scope) ? branchesOf(node) : [] };
    case "LogicalExpression":
      return { always: [node.left], guarded: isTypeofTest(node.left, scope) ? [node.right] : [] };
    case "AssignmentExpression":
      return { always: node.operator === "=" ? [node.left, node.right] : [], guarded: [] };
    case "SwitchStatement":
      return { always: [node.discriminant], guarded: [] };
    case "ForInStatement":
    case "ForOfStatement":
    case "ForStatement":
    case "WhileStatement":
    case "DoWhileStatement":
    case "AssignmentPattern":
    case "CatchClause":
    case "ChainExpression":
      return { always: [], guarded: [] };
    case "BlockStatement":
      return { always: upToExit(node.body), guarded: [] };
    default:
      return { always: expressionsIn(node), guarded: [] };
  }
}

function branchesOf({ consequent, alternate }: ESTree.IfStatement | ESTree.ConditionalExpression): Node[] {
  return alternate ? [consequent, alternate] : [consequent];
}

/** Returns whether an expression is a test of the environment and nothing else: `typeof window !== "undefined"`. */
function isTypeofTest(test: Node, scope: Scope): boolean {
  const inner = unwrapExpression(test);
  if (inner.type !== "BinaryExpression" || inner.left.type !== "UnaryExpression") return false;
  const { operator, argument } = inner.left;
  return operator === "typeof" && argument.type === "Identifier" && !scope.findValue(argument.name);
}

/** Returns the statements up to the first one that may leave the function. */
function upToExit(statements: readonly Node[]): readonly Node[] {
  const exit = statements.findIndex(mayReturn);
  return exit === -1 ? statements : statements.slice(0, exit + 1);
}

function mayReturn(statement: Node): boolean {
  let found = false;
  walk(statement, (node) => {
    found ||= node.type === "ReturnStatement" || node.type === "ThrowStatement";
    return !found && !isFunctionNode(node);
  });
  return found;
}

const GLOBAL_OBJECTS: ReadonlySet<string> = new Set(["globalThis", "window", "self"]);

const CONNECTIONS: ReadonlySet<string> = new Set(["WebSocket", "EventSource"]);

/** Returns the message for a call of a global that starts something; `undefined` for other calls. */
function globalCallMessage({ node, component, scope, isGuarded }: RenderCall): string | undefined {
  const [root = "", ...members] = memberPath(node.callee) ?? [];
  if (scope.findValue(root)) return undefined;
  const path = GLOBAL_OBJECTS.has(root) && members.length > 0 ? members : [root, ...members];
  const [name = ""] = path;
  const start = (what: string) => `${what} at each rendering of ${component}${isGuarded ? "" : ", also on the server"}`;
  if (node.type === "NewExpression") {
    if (path.length > 1 || !CONNECTIONS.has(name)) return undefined;
    const fix = `const connection = new ${name}(…); return () => connection.close();`;
    return `${start(`This ${name} is opened`)}. Open it in on_mount: \`on_mount(() => { ${fix} })\`.`;
  }
  if (path.at(-1) === "addEventListener" && (path.length === 1 || name === "document")) {
    const target = path.length > 1 ? "document." : "";
    const fix = `${target}addEventListener(…); return () => ${target}removeEventListener(…);`;
    return `${start("This listener is added")}, and is never removed. Add it in on_mount: \`on_mount(() => { ${fix} })\`.`;
  }
  if (path.length > 1) return undefined;
  if (name === "setInterval" || (name === "setTimeout" && !isGuarded)) {
    const fix = `const timer = ${name}(…); return () => ${name.replace("set", "clear")}(timer);`;
    return `${start("This timer is started")}, and is never stopped. Start it in on_mount: \`on_mount(() => { ${fix} })\`.`;
  }
  if (name !== "fetch") return undefined;
  return (
    `${start("This request is sent")}. Load the data in the page and pass it as a prop, or send the request in on_mount or ` +
    "in an event handler."
  );
}

async function serverCallMessage(
  { node, component, scope }: RenderCall,
  facts: ModuleFacts,
  resolver: ModuleResolver,
): Promise<string | undefined> {
  const callee = unwrapExpression(node.callee);
  const imported =
    importedNameOf(callee, scope) ??
    (callee.type === "MemberExpression" && memberName(callee) === "named" && importedNameOf(callee.object, scope));
  if (!imported || !(await isServerFunction(imported, facts, resolver))) return undefined;
  return (
    `This server function is called at each rendering of ${component}. Call it in the page and pass the result as a prop, ` +
    "or call it in on_mount or in an event handler."
  );
}

async function isServerFunction(
  imported: ImportedName,
  facts: ModuleFacts,
  resolver: ModuleResolver,
): Promise<boolean> {
  const id = await resolver.resolve(imported.source, facts.source.file);
  const resolved = await resolveExport(id, imported.name, resolver);
  return resolved?.facts.functions.some(({ name }) => name === resolved.name) ?? false;
}
