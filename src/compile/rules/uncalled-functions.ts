import type { ESTree } from "vite";
import { isData, isIntrinsicName, type ModuleFacts, possibleValues, tswebMemberOf } from "../modules/index.ts";
import { CompileError, memberName, type Node, nodesOf, type Scope, unwrapChain } from "../syntax/index.ts";

/** What `()` of a message contains: nothing, or `…` for a function with required parameters. */
type Parameters = "" | "…";

/** The functions of the objects that `tsweb` exports. The other members are values. A test compares them. */
const FUNCTIONS: Readonly<Record<string, Readonly<Record<string, Parameters>>>> = {
  session: { user: "", require: "", logout: "", login: "…", revoke: "…" },
  request: { set_cookie: "…" },
};

/** Returns whether a module may use such a function, without parsing it. Errs towards yes. */
export function mayContainUncalledFunction(code: string): boolean {
  return /["']tsweb["']/.test(code) && /\b(?:session|request)\b/.test(code);
}

const CHECKED_NODES = [
  ...(["IfStatement", "ConditionalExpression", "WhileStatement", "DoWhileStatement", "ForStatement"] as const),
  ...(["LogicalExpression", "UnaryExpression", "BinaryExpression", "AwaitExpression", "MemberExpression"] as const),
  ...(["VariableDeclarator", "TemplateLiteral", "ExpressionStatement", "SpreadElement"] as const),
  ...(["JSXElement", "JSXFragment"] as const),
];

/**
 * Rejects functions of `session` and `request` that are used as if they were their results: `if (session.user)`, which is
 * always truthy, and `session.user.sub`. A function that is passed on, compared with another function or tested with `typeof`
 * is accepted.
 *
 * @throws CompileError at the function
 */
export function checkUncalledFunctions({ source, scopes }: ModuleFacts): void {
  if (!mayContainUncalledFunction(source.code)) return;
  for (const { node, scope } of nodesOf(scopes, ...CHECKED_NODES)) {
    const conditions = conditionsIn(node);
    for (const expression of [...conditions, ...dataIn(node, scope)]) {
      const value = unwrapChain(expression);
      const parameters = parametersOf(value, scope);
      if (parameters === undefined) continue;
      const text = source.code.slice(value.start, value.end);
      const isCondition = conditions.includes(expression);
      const message = `${text} is a function${isCondition ? ", which is always truthy" : ""}. Call it: \`${text}(${parameters})\`.`;
      throw new CompileError(message, source, value);
    }
  }
}

/** Returns the parameters for the message if an expression is one of the functions. */
function parametersOf(value: Node, scope: Scope): Parameters | undefined {
  const { object = "", member = "" } = tswebMemberOf(value, scope) ?? {};
  const functions = Object.hasOwn(FUNCTIONS, object) ? FUNCTIONS[object] : undefined;
  return functions && Object.hasOwn(functions, member) ? functions[member] : undefined;
}

/** Returns the expressions of a node of which only the truth matters. */
function conditionsIn(node: Node): Node[] {
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
    case "DoWhileStatement":
      return possibleValues(node.test);
    case "ForStatement":
      return node.test ? possibleValues(node.test) : [];
    case "LogicalExpression":
      return node.operator === "??" ? [] : possibleValues(node.left);
    case "UnaryExpression":
      return node.operator === "!" ? possibleValues(node.argument) : [];
    default:
      return [];
  }
}

/** The members that are used of a function, as a function. A test that mocks `tsweb` uses further ones. */
const FUNCTION_MEMBERS = /^(?:call|apply|bind|toString|length|mock\w*)$/;

/** Returns the expressions of a node that are used as data. */
function dataIn(node: Node, scope: Scope): Node[] {
  switch (node.type) {
    case "MemberExpression":
      return FUNCTION_MEMBERS.test(memberName(node) ?? "") ? [] : [node.object];
    case "VariableDeclarator":
      return node.init && node.id.type !== "Identifier" ? [node.init] : [];
    case "TemplateLiteral":
      return node.expressions.flatMap(possibleValues);
    case "LogicalExpression":
      return node.operator === "??" ? possibleValues(node.left) : [];
    case "BinaryExpression":
      return operandsOf(node, scope);
    case "ExpressionStatement":
    case "SpreadElement":
      return [node.type === "SpreadElement" ? node.argument : node.expression];
    case "AwaitExpression":
      return [node.argument];
    case "JSXElement":
      return isIntrinsicName(node.openingElement.name) ? node.children.flatMap(renderedValues) : [];
    case "JSXFragment":
      return node.children.flatMap(renderedValues);
    default:
      return [];
  }
}

/** Returns the operands that an operator takes as data. Comparisons with what may be a function are left out. */
function operandsOf(node: Node & { type: "BinaryExpression" }, scope: Scope): Node[] {
  const { operator, left, right } = node;
  if (operator === "in" || operator === "instanceof") return [];
  if (!/^[!=]==?$/.test(operator)) return [left, right];
  return isData(left, scope) || isData(right, scope) ? [left, right] : [];
}

function renderedValues(child: ESTree.JSXChild): Node[] {
  return child.type === "JSXExpressionContainer" ? possibleValues(child.expression) : [];
}
