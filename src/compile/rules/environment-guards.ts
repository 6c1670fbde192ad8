import {
  isFunctionNode,
  memberPath,
  type Node,
  type Scope,
  stringValue,
  unwrapExpression,
  walk,
} from "../syntax/index.ts";

/**
 * Returns whether code runs only if a condition about its environment holds, such as `typeof window === "undefined"`: in a
 * branch of it, after a statement that leaves the function otherwise, or in a `try` whose `catch` handles a missing name.
 * When unsure, it returns `true`.
 *
 * @param node the code
 * @param ancestors the nodes that contain it, the innermost first
 * @param scope the scope in which the names of the conditions are looked up
 */
export function isEnvironmentGuarded(node: Node, ancestors: readonly Node[], scope: Scope): boolean {
  let child = node;
  for (const parent of ancestors) {
    if (isGuardedBranch(child, parent, scope)) return true;
    child = parent;
  }
  return false;
}

function isGuardedBranch(child: Node, parent: Node, scope: Scope): boolean {
  switch (parent.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return child !== parent.test && testsEnvironment(parent.test, scope);
    case "SwitchStatement":
      return child !== parent.discriminant && testsEnvironment(parent.discriminant, scope);
    case "WhileStatement":
    case "ForStatement":
      return parent.test !== null && child !== parent.test && testsEnvironment(parent.test, scope);
    case "LogicalExpression":
      return child === parent.right && testsEnvironment(parent.left, scope);
    case "TryStatement":
      return child === parent.block && parent.handler !== null;
    case "BlockStatement":
    case "Program":
      return followsExit(child, parent.body, scope);
    case "SwitchCase":
      return followsExit(child, parent.consequent, scope);
    default:
      return false;
  }
}

/**
 * Returns whether an earlier statement leaves the block in one of the environments:
 * `if (typeof window === "undefined") return;` or `assert(typeof process !== "undefined");`
 */
export function followsExit(child: Node, statements: readonly Node[], scope: Scope): boolean {
  for (const statement of statements) {
    if (statement === child) return false;
    if (mayExitInOneEnvironment(statement, scope)) return true;
  }
  return false;
}

function mayExitInOneEnvironment(statement: Node, scope: Scope): boolean {
  if (statement.type === "IfStatement") {
    const mayExit = exits(statement.consequent) || (statement.alternate !== null && exits(statement.alternate));
    return mayExit && testsEnvironment(statement.test, scope);
  }
  if (statement.type !== "ExpressionStatement") return false;
  const call = unwrapExpression(statement.expression);
  if (call.type !== "CallExpression" || memberPath(call.callee)?.[0] === "console") return false;
  return call.arguments.some((argument) => testsEnvironment(argument, scope));
}

function exits(node: Node): boolean {
  const last = node.type === "BlockStatement" ? node.body.at(-1) : node;
  return (
    last?.type === "ReturnStatement" ||
    last?.type === "ThrowStatement" ||
    last?.type === "ContinueStatement" ||
    last?.type === "BreakStatement"
  );
}

/** Names such as `isServer`, `IS_BROWSER` and `canUseDOM`, which a project gives to the result of such a test. */
const TEST_NAME = /server|browser|client|ssr|node|dom|window/i;

/**
 * Returns whether a condition may test the environment: it contains `typeof` of a name that the module does not declare, a
 * member of `globalThis` or `import.meta`, or a name of the module or an import that is set to such a test or named like one.
 */
export function testsEnvironment(test: Node, scope: Scope, depth = 0): boolean {
  let found = false;
  walk(test, (node) => {
    found ||= isEnvironmentTest(node, scope, depth);
    return !found && !isFunctionNode(node);
  });
  return found;
}

function isEnvironmentTest(node: Node, scope: Scope, depth: number): boolean {
  if (node.type === "MetaProperty") return true;
  if (node.type === "UnaryExpression" && node.operator === "typeof") return isGlobal(node.argument, scope);
  if (node.type === "MemberExpression") return isGlobalObject(node.object, scope);
  if (node.type === "BinaryExpression" && node.operator === "in")
    return stringValue(node.left) !== undefined && isGlobalObject(node.right, scope);
  if (node.type !== "Identifier") return false;
  const binding = scope.findValue(node.name);
  if (!binding) return false;
  if ((binding.imported || binding.scope.isModule) && TEST_NAME.test(node.name)) return true;
  const [declaration] = binding.kind === "const" ? binding.declarations : [];
  // Constants that refer to each other would be followed forever.
  if (depth > 4 || declaration?.type !== "VariableDeclarator" || !declaration.init) return false;
  return testsEnvironment(declaration.init, binding.scope, depth + 1);
}

/** Returns whether an expression is a name that the module does not declare, or a member of one. */
function isGlobal(node: Node, scope: Scope): boolean {
  const inner = unwrapExpression(node);
  if (inner.type === "MemberExpression") return isGlobal(inner.object, scope);
  return inner.type === "Identifier" && !scope.findValue(inner.name);
}

function isGlobalObject(node: Node, scope: Scope): boolean {
  const inner = unwrapExpression(node);
  return (
    inner.type === "Identifier" && ["globalThis", "self", "window"].includes(inner.name) && !scope.findValue(inner.name)
  );
}
