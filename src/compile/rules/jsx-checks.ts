import type { ESTree } from "vite";
import {
  attributesOf,
  importedNameOf,
  isActionName,
  isData,
  isFunctionValue,
  isIntrinsicName,
  type ModuleFacts,
  type ModuleResolver,
  possibleValues,
  resolveImported,
} from "../modules/index.ts";
import {
  CompileError,
  childrenOf,
  isFunctionNode,
  isMarkup,
  memberName,
  type Node,
  nodesOf,
  type Scope,
  type SourceRange,
  unwrapExpression,
} from "../syntax/index.ts";

const CALL_IN_MARKUP =
  "A server call cannot be used in markup, because rendering is synchronous. Call it in an event handler or in `on_mount` and render the result, or await it in the page function.";

const CALLED_ACTION =
  "This calls the server function during the rendering. A form calls it when the user submits, so it needs the function itself.";

const FUNCTION_IN_PAGE =
  "This function would never be called, because a page reaches the browser as HTML only. Move this element into a view and use the view here.";

const FUNCTION_IN_PROPS =
  "This function would never be called, because a page reaches the browser as HTML, and the props of a view as JSON. Declare the function in the module of the view, and use it in the view's own markup instead of passing it.";

const UNUSED_MARKUP =
  "This markup is not used, because its function does not return it. Write `return` before it, or leave out the braces of the arrow function.";

const SHARED_STATE =
  "`state()` cannot be used at module level, because all users would share it on the server. Call it inside a view. For a value that is the same for all users, use a constant.";

/**
 * Checks the markup of a module. Rejected are server calls in markup; in a server module also functions as
 * attributes or event handlers and children of views; and everywhere markup that is a statement, and `state()` at
 * module level.
 *
 * @throws CompileError at the expression or attribute that is rejected
 */
export async function checkMarkup(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const check = new MarkupCheck(facts, resolver);
  for (const { node, scope } of nodesOf(facts.scopes, ...CHECKED_NODES)) check.checkNode(node, scope);
  await check.finish();
}

const CHECKED_NODES = [
  ...(["JSXAttribute", "JSXExpressionContainer", "JSXSpreadChild", "JSXSpreadAttribute", "JSXElement"] as const),
  ...(["ExpressionStatement", "CallExpression"] as const),
];

class MarkupCheck {
  private readonly facts: ModuleFacts;
  private readonly resolver: ModuleResolver;
  /** The checks that need other modules. */
  private readonly pendingChecks: (() => Promise<void>)[] = [];

  constructor(facts: ModuleFacts, resolver: ModuleResolver) {
    this.facts = facts;
    this.resolver = resolver;
  }

  checkNode(node: Node, scope: Scope): void {
    if (node.type === "JSXAttribute") this.rejectCalledAction(node, scope);
    if (node.type === "JSXExpressionContainer" || node.type === "JSXSpreadChild")
      this.rejectServerCalls(node.expression, scope);
    if (node.type === "JSXSpreadAttribute") this.rejectServerCalls(node.argument, scope);
    if (this.facts.isServerModule && node.type === "JSXElement") this.checkElement(node, scope);
    if (node.type === "ExpressionStatement") this.rejectUnusedMarkup(unwrapExpression(node.expression));
    if (node.type === "CallExpression" && scope.functionScope.isModule) this.rejectSharedState(node, scope);
  }

  private rejectCalledAction({ name, value }: ESTree.JSXAttribute, scope: Scope): void {
    if (name.type !== "JSXIdentifier" || !isActionName(name.name) || value?.type !== "JSXExpressionContainer") return;
    const call = unwrapExpression(value.expression);
    if (call.type !== "CallExpression") return;
    const written = this.facts.source.code.slice(call.callee.start, call.callee.end);
    const fix = `Write ${name.name}={${written}}: the fields of the form become the arguments.`;
    this.rejectServerFunction(unwrapExpression(call.callee), scope, call, `${CALLED_ACTION} ${fix}`);
  }

  private rejectUnusedMarkup(expression: Node): void {
    if (isMarkup(expression)) this.reject(UNUSED_MARKUP, expression);
  }

  private rejectSharedState(call: ESTree.CallExpression, scope: Scope): void {
    const callee = unwrapExpression(call.callee);
    const imported = callee.type === "Identifier" ? scope.findValue(callee.name)?.imported : undefined;
    if (imported?.source === "tsweb/browser" && imported.name === "state") {
      throw new CompileError(SHARED_STATE, this.facts.source, call);
    }
  }

  async finish(): Promise<void> {
    for (const check of this.pendingChecks) await check();
  }

  /**
   * Rejects server calls in an expression. Nested functions run later and are skipped, except those that run during the
   * rendering: `items.map((item) => load(item))`. A page may await a call.
   */
  private rejectServerCalls(
    expression: Node,
    outer: Scope,
    options: { isAwaited?: boolean; mayAwait?: boolean } = {},
  ): void {
    const scope = this.facts.scopes.byNode.get(expression) ?? outer;
    const { isAwaited = false, mayAwait = this.facts.isServerModule } = options;
    if (isFunctionNode(expression) || isMarkup(expression)) return;
    if (expression.type === "CallExpression") {
      if (isAwaited && isPromiseCombinator(expression)) return;
      if (!isAwaited) this.rejectServerCall(expression, scope);
      this.checkCallbacks(expression, scope);
    }
    const awaits = mayAwait && expression.type === "AwaitExpression";
    for (const child of childrenOf(expression))
      this.rejectServerCalls(awaits ? unwrapExpression(child) : child, scope, { isAwaited: awaits, mayAwait });
  }

  private rejectServerCall(call: ESTree.CallExpression, scope: Scope): void {
    const callee = unwrapExpression(call.callee);
    if (callee.type === "MemberExpression" && memberName(callee) === "bind") return; // it calls nothing
    this.rejectServerFunction(calleeObject(callee), scope, call, CALL_IN_MARKUP);
    if (callee.type === "MemberExpression") this.rejectServerFunction(callee, scope, call, CALL_IN_MARKUP);
    if (!callsBack(callee)) return;
    for (const argument of call.arguments)
      this.rejectServerFunction(unwrapExpression(argument), scope, call, CALL_IN_MARKUP);
  }

  /** Checks the functions that a call in markup runs at once: callbacks of array methods, and a function that is called. */
  private checkCallbacks(call: ESTree.CallExpression, outer: Scope): void {
    const callee = unwrapExpression(call.callee);
    const callbacks = isFunctionNode(callee) ? [callee] : callsBack(callee) ? call.arguments.map(unwrapExpression) : [];
    for (const callback of callbacks) {
      if (!isFunctionNode(callback)) continue;
      const scope = this.facts.scopes.byNode.get(callback) ?? outer;
      // An await in a callback does not help: the callback itself then returns a promise.
      for (const child of childrenOf(callback)) this.rejectServerCalls(child, scope, { mayAwait: false });
    }
  }

  private checkElement({ openingElement, children }: ESTree.JSXElement, scope: Scope): void {
    const isIntrinsic = isIntrinsicName(openingElement.name);
    for (const attribute of openingElement.attributes) {
      if (attribute.type === "JSXAttribute") this.checkAttribute(attribute, isIntrinsic, scope);
    }
    if (isIntrinsic) return;
    const child = children.find(isContent) ?? attributesOf(openingElement).find(({ name }) => name === "children")?.at;
    if (child) this.rejectChildrenOfView(openingElement.name, scope, child);
  }

  private checkAttribute(attribute: ESTree.JSXAttribute, isIntrinsic: boolean, scope: Scope): void {
    const name = attribute.name.type === "JSXIdentifier" ? attribute.name.name : "";
    const value =
      attribute.value?.type === "JSXExpressionContainer"
        ? unwrapExpression(attribute.value.expression)
        : attribute.value;
    const message = isIntrinsic ? FUNCTION_IN_PAGE : FUNCTION_IN_PROPS;
    const isHandler = /^on[A-Z]/.test(name);
    if (isHandler && (isIntrinsic || (value && !isData(value, scope)))) this.reject(message, attribute);
    if (!isIntrinsic || !value || isActionName(name)) return; // checkFormActions checks actions
    for (const possibleValue of possibleValues(value)) {
      if (isFunctionValue(possibleValue, scope)) this.reject(message, attribute);
      this.rejectServerFunction(possibleValue, scope, attribute, message);
    }
  }

  private rejectServerFunction(node: Node, scope: Scope, at: SourceRange, message: string): void {
    const local = node.type === "Identifier" ? scope.findValue(node.name) : undefined;
    const isDeclaredHere = this.facts.declarations.some(
      (declaration) => declaration.kind === "server" && local?.scope.isModule && declaration.local === local.name,
    );
    if (isDeclaredHere) this.reject(message, at);
    const imported = importedNameOf(node, scope);
    if (!imported) return;
    this.pendingChecks.push(async () => {
      const resolved = await resolveImported(imported, this.facts, this.resolver);
      if (resolved?.serverFunction) this.reject(message, at);
    });
  }

  private rejectChildrenOfView(name: ESTree.JSXElementName, scope: Scope, at: SourceRange): void {
    const imported = importedNameOf(name, scope);
    if (!imported) return;
    this.pendingChecks.push(async () => {
      const view = (await resolveImported(imported, this.facts, this.resolver))?.view;
      if (!view) return;
      this.reject(
        `The view "${view.name}" cannot have children in a page, because only its props are sent to the browser. Render the children inside the view, or wrap both in one view.`,
        at,
      );
    });
  }

  private reject(message: string, at: SourceRange): never {
    throw new CompileError(message, this.facts.source, at);
  }
}

/** The methods of arrays, and `Array.from`, that call their argument before they return. */
const CALLBACK_METHODS = new Set([
  ...["map", "flatMap", "filter", "forEach", "find", "findIndex", "findLast", "findLastIndex", "some", "every"],
  ...["reduce", "reduceRight", "sort", "toSorted", "from"],
]);

function callsBack(callee: Node): boolean {
  return callee.type === "MemberExpression" && CALLBACK_METHODS.has(memberName(callee) ?? "");
}

/** Returns whether a call is `Promise.all(…)` or the like: awaited, it waits for the calls in its arguments. */
function isPromiseCombinator(call: ESTree.CallExpression): boolean {
  const callee = unwrapExpression(call.callee);
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return false;
  return callee.object.name === "Promise" && ["all", "allSettled", "any", "race"].includes(memberName(callee) ?? "");
}

/** Returns the object of a method call: `load.named(…)` is a call of `load`. */
function calleeObject(callee: Node): Node {
  return callee.type === "MemberExpression" ? unwrapExpression(callee.object) : callee;
}

function isContent(child: ESTree.JSXChild): boolean {
  // JSX drops white space that contains a line break. Other white space is a child.
  if (child.type === "JSXText") return child.value.trim() !== "" || !child.value.includes("\n");
  return child.type !== "JSXExpressionContainer" || child.expression.type !== "JSXEmptyExpression";
}
