import {
  constantValue,
  findNode,
  isFunctionNode,
  isMarkup,
  memberPath,
  type Node,
  type Scope,
  stringValue,
  unwrapExpression,
} from "../syntax/index.ts";

/**
 * Returns whether an expression is rendered as text or as an attribute of an element while the server renders: its value is
 * then part of the HTML. When unsure, it returns `false`. A test that holds on the server, such as
 * `typeof process !== "undefined"`, changes nothing.
 *
 * @param node the expression
 * @param ancestors the nodes that contain it, the innermost first
 * @param scope the scope in which the names of the conditions are looked up
 */
export function isRenderedByServer(node: Node, ancestors: readonly Node[], scope: Scope): boolean {
  let isInMarkup = false;
  let child = node;
  for (const [index, parent] of ancestors.entries()) {
    if (!isInMarkup && isMarkupValue(parent, ancestors[index + 1], ancestors[index + 2])) isInMarkup = true;
    else if (!isInMarkup && !passesValue(child, parent)) return false;
    if (!mayRunOnServer(child, parent, scope)) return false;
    child = parent;
  }
  return isInMarkup;
}

/** Returns whether a node is the `{…}` of a child or of an attribute of an HTML element. */
function isMarkupValue(node: Node, parent: Node | undefined, element: Node | undefined): boolean {
  if (node.type !== "JSXExpressionContainer") return false;
  if (parent && isMarkup(parent)) return true;
  if (parent?.type !== "JSXAttribute" || element?.type !== "JSXOpeningElement") return false;
  const { name } = element;
  return name.type === "JSXIdentifier" && /^[a-z]/.test(name.name) && !/^(?:on|key$|ref$)/.test(attributeName(parent));
}

function attributeName(attribute: Node & { type: "JSXAttribute" }): string {
  return attribute.name.type === "JSXIdentifier" ? attribute.name.name : "";
}

/** Returns whether the value of a node may be the value of its child, or contains it as text. */
function passesValue(child: Node, parent: Node): boolean {
  switch (parent.type) {
    case "ConditionalExpression":
      return child !== parent.test;
    case "LogicalExpression":
      return parent.operator !== "&&" || child === parent.right;
    case "BinaryExpression":
      return parent.operator === "+";
    case "TemplateLiteral":
    case "ChainExpression":
      return true;
    default:
      return unwrapExpression(parent) !== parent;
  }
}

function mayRunOnServer(child: Node, parent: Node, scope: Scope): boolean {
  switch (parent.type) {
    case "IfStatement":
    case "ConditionalExpression":
      if (child === parent.test) return true;
      return isPossible(parent.test, child === parent.consequent, scope);
    case "LogicalExpression":
      return (
        child === parent.left || parent.operator === "??" || isPossible(parent.left, parent.operator === "&&", scope)
      );
    case "BlockStatement":
    case "Program":
      return !followsExit(child, parent.body, scope);
    case "SwitchCase":
      return !followsExit(child, parent.consequent, scope);
    case "SwitchStatement":
      return !testsEnvironment(parent.discriminant, scope);
    default:
      return true;
  }
}

/** Returns whether a condition may have a value on the server. A test of the environment must be one that is understood. */
function isPossible(test: Node, expected: boolean, scope: Scope): boolean {
  const value = valueOnServer(test, scope);
  return value === undefined ? !testsEnvironment(test, scope) : value === expected;
}

/** Returns the value that a test of the environment has on the server; `undefined` if it is not known. */
function valueOnServer(test: Node, scope: Scope, depth = 0): boolean | undefined {
  const inner = unwrapExpression(test);
  switch (inner.type) {
    case "UnaryExpression":
      return inner.operator === "!" ? negate(valueOnServer(inner.argument, scope, depth)) : undefined;
    case "LogicalExpression": {
      const values = [valueOnServer(inner.left, scope, depth), valueOnServer(inner.right, scope, depth)];
      if (inner.operator === "??") return undefined;
      const deciding = inner.operator === "||";
      if (values.includes(deciding)) return deciding;
      return values.includes(undefined) ? undefined : !deciding;
    }
    case "BinaryExpression":
      return comparisonOnServer(inner, scope);
    case "Identifier": {
      const binding = scope.findValue(inner.name);
      const constant = depth > 4 ? undefined : constantValue(binding);
      return binding && constant ? valueOnServer(constant, binding.scope, depth + 1) : existsOnServer(inner, scope);
    }
    default:
      return existsOnServer(inner, scope);
  }
}

/** Returns the value of `typeof process !== "undefined"` and `"process" in globalThis`. */
function comparisonOnServer(node: Node & { type: "BinaryExpression" }, scope: Scope): boolean | undefined {
  const name = stringValue(node.left);
  if (node.operator === "in")
    return memberPath(node.right)?.join(".") === "globalThis" ? environmentOf(name ?? "") : undefined;
  const operand = unwrapExpression(node.left);
  if (operand.type !== "UnaryExpression" || operand.operator !== "typeof") return undefined;
  const exists = existsOnServer(operand.argument, scope);
  const equals = /^===?$/.test(node.operator);
  if (!equals && !/^!==?$/.test(node.operator)) return undefined;
  if (stringValue(node.right) === "undefined") return equals ? negate(exists) : exists;
  return stringValue(node.right) === "object" ? (equals ? exists : negate(exists)) : undefined;
}

/** Returns whether an expression such as `globalThis.process` has a value on the server. */
function existsOnServer(node: Node, scope: Scope): boolean | undefined {
  const path = memberPath(node);
  const [root] = path ?? [];
  if (root === undefined || scope.findValue(root)) return undefined;
  const names = root === "globalThis" ? path?.slice(1) : path;
  return /^process(?:\.env|\.versions(?:\.node)?)?$/.test(names?.join(".") ?? "") || names?.length === 1
    ? environmentOf(names?.[0] ?? "")
    : undefined;
}

function environmentOf(name: string): boolean | undefined {
  if (name === "process") return true;
  return name === "window" || name === "document" ? false : undefined;
}

function negate(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

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
function followsExit(child: Node, statements: readonly Node[], scope: Scope): boolean {
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
function testsEnvironment(test: Node, scope: Scope, depth = 0): boolean {
  return findNode(test, (node) => isEnvironmentTest(node, scope, depth), isFunctionNode) !== undefined;
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
