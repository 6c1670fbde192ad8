import type { ESTree } from "vite";
import {
  type FoundComponent,
  findComponents,
  importedNameOf,
  locationIn,
  type ModuleFacts,
  type ModuleResolver,
  resolveImported,
  tswebMemberOf,
} from "../modules/index.ts";
import {
  CompileError,
  expressionsIn,
  findNode,
  globalPath,
  isFunctionNode,
  memberName,
  memberPath,
  type Node,
  nodesOf,
  type Scope,
  unwrapChain,
  unwrapExpression,
  walkScoped,
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
  const isExit = ({ type }: Node) => type === "ReturnStatement" || type === "ThrowStatement";
  return findNode(statement, isExit, isFunctionNode) !== undefined;
}

const CONNECTIONS: ReadonlySet<string> = new Set(["WebSocket", "EventSource"]);

/** Returns the message for a call of a global that starts something; `undefined` for other calls. */
function globalCallMessage({ node, component, scope, isGuarded }: RenderCall): string | undefined {
  const path = globalPath(node.callee, scope);
  if (!path) return undefined;
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
  const resolved = imported ? await resolveImported(imported, facts, resolver) : undefined;
  if (!resolved?.serverFunction) return undefined;
  return (
    `This server function is called at each rendering of ${component}. Call it in the page and pass the result as a prop, ` +
    "or call it in on_mount or in an event handler."
  );
}

/** The functions that call the function that is returned to them, by the modules that export them. */
const CLEANUP_HOOKS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["tsweb/browser", new Set(["on_mount"])],
  ["preact/hooks", new Set(["useEffect", "useLayoutEffect"])],
]);

/**
 * Returns a warning for each function of `on_mount` or `useEffect` that returns the number of an interval, such as
 * `on_mount(() => setInterval(tick, 1000))`: a number is ignored, and the interval continues after the component is removed.
 *
 * Errs towards silence: other timers run once, and other values may be the unused result of an arrow function.
 *
 * @param resolver.root the project's root; the file names in the warnings are relative to it
 */
export function timerWarnings(facts: ModuleFacts, { root }: Pick<ModuleResolver, "root">): string[] {
  const { scopes, source } = facts;
  const warnings: string[] = [];
  if (!source.code.includes("setInterval")) return warnings;
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const hook = hookName(node.callee, scope);
    if (hook === undefined) continue;
    const call = returnedInterval(node.arguments[0], scope);
    if (call) {
      warnings.push(
        `${locationIn(facts, call.start, root)} returns the number of an interval to ${hook}, which nothing stops. Return a function that stops it: ` +
          `\`${hook}(() => { const timer = setInterval(…); return () => clearInterval(timer); }${hook === "on_mount" ? "" : ", […]"})\`.`,
      );
    }
  }
  return warnings;
}

function hookName(callee: Node, scope: Scope): string | undefined {
  const imported = importedNameOf(unwrapExpression(callee), scope);
  return imported && CLEANUP_HOOKS.get(imported.source)?.has(imported.name) ? imported.name : undefined;
}

/** Returns the call of `setInterval` whose result a function returns; `undefined` if it certainly returns none. */
function returnedInterval(argument: Node | undefined, scope: Scope): Node | undefined {
  const fn = argument && unwrapExpression(argument);
  if (!fn || !isFunctionNode(fn) || fn.async || fn.generator || !fn.body) return undefined;
  const last = fn.body.type === "BlockStatement" ? fn.body.body.at(-1) : undefined;
  const returned =
    fn.body.type !== "BlockStatement" ? fn.body : last?.type === "ReturnStatement" ? last.argument : null;
  const value = returned && unwrapExpression(returned);
  return value?.type === "CallExpression" && isSetInterval(value.callee, scope) ? value : undefined;
}

function isSetInterval(callee: Node, scope: Scope): boolean {
  const path = memberPath(callee) ?? [];
  const [root = "", member] = path;
  const isGlobal = !scope.findValue(root);
  if (path.length === 1) return isGlobal && root === "setInterval";
  return isGlobal && path.length === 2 && member === "setInterval" && /^(?:window|globalThis|self)$/.test(root);
}

/** The functions of `tsweb` that change something, or belong to the request of one client. */
const QUERY_EFFECTS: ReadonlySet<string> = new Set([
  "publish",
  "revalidate",
  "listen",
  "channel",
  "presence",
  "send_file",
]);
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
      const problem = queryEffect(node, scope);
      if (problem) throw new CompileError(`The query "${name}" ${problem}`, source, node);
      return true;
    });
  }
}

function queryEffect(node: Node, scope: Scope): string | undefined {
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
      : imported?.source === "tsweb" && QUERY_EFFECTS.has(imported.name)
        ? imported.name
        : undefined;
  return called === undefined
    ? undefined
    : `calls ${called}(), but a query only reads: it runs again after each message, outside every request. Call it in the page or in the server function that makes the change.`;
}
