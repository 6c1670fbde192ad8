import type { ESTree } from "vite";
import {
  importedNameOf,
  isData,
  isIntrinsicName,
  type ModuleFacts,
  type ModuleResolver,
  originOf,
  possibleValues,
  tswebMemberOf,
} from "../modules/index.ts";
import {
  CompileError,
  type ImportedName,
  memberName,
  type Node,
  nodesOf,
  type Scope,
  type Scopes,
  type SourceFile,
  unwrapChain,
  unwrapExpression,
} from "../syntax/index.ts";

/** Returns whether a module may drop a value that tsweb needs, without parsing it. Errs towards yes. */
export function mayDropValues(code: string): boolean {
  return mayContainRedirect(code) || mayContainErrorClass(code);
}

/**
 * Rejects statements that drop a value without which they have no effect, so that a guard that is written like this lets
 * everybody pass: a call of `redirect()`, and a new error of tsweb that is not thrown. Functions and classes of the project
 * with the same names are not affected.
 *
 * @throws CompileError at the expression
 */
export function checkDroppedValues({ source, scopes }: ModuleFacts): void {
  if (!mayDropValues(source.code)) return;
  for (const { call, imported } of droppedImportedCalls(scopes)) {
    const message = droppedMessage(call, imported, source);
    if (message !== undefined) throw new CompileError(message, source, call);
  }
}

/**
 * Rejects a statement that drops the value of `redirect()`, or a new error of tsweb, where modules of the project re-export
 * them, also under another name. `checkDroppedValues` rejects it where they are imported from tsweb.
 *
 * @throws CompileError at the expression
 */
export async function checkReExportedValues(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const { source, scopes } = facts;
  for (const { call, imported } of droppedImportedCalls(scopes)) {
    const message = droppedMessage(call, await originOf(imported, source.file, resolver), source);
    if (message !== undefined) throw new CompileError(message, source, call);
  }
}

/**
 * Returns the error message for an expression whose value is dropped; `undefined` if it needs no value.
 *
 * @param origin the function or class that it calls, after re-exports have been followed
 */
function droppedMessage(call: Call, origin: ImportedName, source: SourceFile): string | undefined {
  if (isRedirect(call, origin)) return unusedMessage(call, source);
  return isErrorClass(call, origin) ? unthrownMessage(call, source) : undefined;
}

/** Returns the calls of imported functions and classes whose value a statement drops. */
function droppedImportedCalls(scopes: Scopes) {
  const calls: { readonly call: Call; readonly imported: ImportedName }[] = [];
  for (const { node, scope } of nodesOf(scopes, "ExpressionStatement")) {
    for (const call of droppedCalls(node.expression)) {
      const imported = importedNameOf(unwrapExpression(call.callee), scope);
      if (imported) calls.push({ call, imported });
    }
  }
  return calls;
}

/** Returns the calls whose result is the value of an expression, or of an operand that a statement drops with it. */
function droppedCalls(node: Node): Call[] {
  const inner = unwrapExpression(node);
  switch (inner.type) {
    case "CallExpression":
    case "NewExpression":
      return [inner];
    case "ChainExpression":
      return droppedCalls(inner.expression);
    case "AwaitExpression":
    case "UnaryExpression":
      return droppedCalls(inner.argument);
    case "LogicalExpression":
      return [...droppedCalls(inner.left), ...droppedCalls(inner.right)];
    case "ConditionalExpression":
      return [inner.test, inner.consequent, inner.alternate].flatMap(droppedCalls);
    case "SequenceExpression":
      return inner.expressions.flatMap(droppedCalls);
    default:
      return [];
  }
}

/** A call of a function, or of a class with `new`. */
type Call = ESTree.CallExpression | ESTree.NewExpression;

/** The maximum length of a call that is repeated in a message. */
const MAX_CALL_LENGTH = 60;

/** Returns the text of a call for a message, with `…` in place of long arguments. */
function callText(call: Call, source: SourceFile): string {
  const text = source.code.slice(call.start, call.end);
  if (text.length <= MAX_CALL_LENGTH && !text.includes("\n")) return text;
  return `${call.type === "NewExpression" ? "new " : ""}${calleeText(call, source)}(…)`;
}

function calleeText({ callee }: Call, { code }: SourceFile): string {
  return code.slice(callee.start, callee.end);
}

/** Returns whether a module may import and call `redirect`, also by way of another module, without parsing it. */
function mayContainRedirect(code: string): boolean {
  return /\bimport\b/.test(code) && /\bredirect\b/.test(code);
}

function isRedirect({ type }: Call, { source, name }: ImportedName): boolean {
  return type === "CallExpression" && source === "tsweb" && name === "redirect";
}

/** Returns the error message for a redirect whose value is dropped. */
function unusedMessage(call: Call, source: SourceFile): string {
  const name = calleeText(call, source);
  return (
    `${name}() returns a value and has no effect here. Write \`throw ${callText(call, source)}\` or ` +
    `\`return ${name}(…)\`.`
  );
}

/** The entry points that export an error class which applications throw. */
const ENTRY_POINTS: ReadonlySet<string> = new Set(["tsweb", "tsweb/browser", "tsweb/client", "tsweb/testing"]);

const ERROR_CLASSES: ReadonlySet<string> = new Set(["NotFound", "RPCError", "ValueError"]);

/** Returns whether a module may use an error class of tsweb, without parsing it. */
function mayContainErrorClass(code: string): boolean {
  return /["']tsweb(?:\/\w+)?["']/.test(code) && /\b(?:NotFound|RPCError|ValueError)\b/.test(code);
}

/** Returns whether an expression creates an error of tsweb. */
function isErrorClass({ type }: Call, { source, name }: ImportedName): boolean {
  return type === "NewExpression" && ENTRY_POINTS.has(source) && ERROR_CLASSES.has(name);
}

/** Returns the error message for an error that is created and dropped. */
function unthrownMessage(call: Call, source: SourceFile): string {
  const name = calleeText(call, source);
  return `This ${name} is created and not thrown, so it has no effect. Throw it: \`throw ${callText(call, source)}\`.`;
}

/** What `()` of a message contains: nothing, or `…` for a function with required parameters. */
type Parameters = "" | "…";

/** The functions of the objects that `tsweb` exports. The other members are values. A test compares them. */
const UNCALLED: Readonly<Record<string, Readonly<Record<string, Parameters>>>> = {
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
  const functions = Object.hasOwn(UNCALLED, object) ? UNCALLED[object] : undefined;
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
