import type { ESTree } from "vite";
import type { ModuleFacts } from "./module-facts.ts";
import { type ModuleResolver, type ResolvedExport, resolveExport } from "./module-resolver.ts";
import {
  CompileError,
  childrenOf,
  type ImportedName,
  isFunctionNode,
  isServerModule,
  type Node,
  type Scope,
  type SourceRange,
  stringValue,
  unwrapExpression,
  walkScoped,
} from "./syntax/index.ts";

const CALL_IN_MARKUP =
  "A server call cannot be used in markup, because rendering is synchronous. Call it in an event handler or in `on_mount` and render the result, or await it in the page function.";

const FUNCTION_IN_PAGE =
  "This function would never be called, because a page reaches the browser as HTML only. Move this element into a view and use the view here.";

const SHARED_STATE =
  "`state()` cannot be used at module level, because all users would share it on the server. Call it inside a view. For a value that is the same for all users, use a constant.";

/**
 * Checks the markup of a module. Rejected are server calls in markup; in a server module also functions as
 * attributes or event handlers and children of views; and everywhere `state()` at module level.
 *
 * @throws CompileError at the expression or attribute that is rejected
 */
export async function checkMarkup(facts: ModuleFacts, resolver: ModuleResolver): Promise<void> {
  const check = new MarkupCheck(facts, resolver);
  walkScoped(facts.program, facts.scopes.module, facts.scopes, (node, scope) => {
    check.checkNode(node, scope);
    return true;
  });
  await check.finish();
}

class MarkupCheck {
  private readonly facts: ModuleFacts;
  private readonly resolver: ModuleResolver;
  private readonly isServerModule: boolean;
  /** The checks that need other modules. */
  private readonly pendingChecks: (() => Promise<void>)[] = [];

  constructor(facts: ModuleFacts, resolver: ModuleResolver) {
    this.facts = facts;
    this.resolver = resolver;
    this.isServerModule = isServerModule(facts.source.file);
  }

  checkNode(node: Node, scope: Scope): void {
    if (node.type === "JSXExpressionContainer" || node.type === "JSXSpreadChild")
      this.rejectServerCalls(node.expression, scope);
    if (node.type === "JSXSpreadAttribute") this.rejectServerCalls(node.argument, scope);
    if (this.isServerModule && node.type === "JSXElement") this.checkElement(node, scope);
    if (node.type === "CallExpression" && scope.functionScope.isModule) this.rejectSharedState(node, scope);
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

  /** Rejects server calls in an expression. Nested functions run later and are skipped. A page may await a call. */
  private rejectServerCalls(expression: Node, scope: Scope, isAwaited = false): void {
    if (isFunctionNode(expression) || expression.type === "JSXElement" || expression.type === "JSXFragment") return;
    if (expression.type === "CallExpression" && !isAwaited) {
      const callee = unwrapExpression(expression.callee);
      this.rejectServerFunction(calleeObject(callee), scope, expression, CALL_IN_MARKUP);
      if (callee.type === "MemberExpression") this.rejectServerFunction(callee, scope, expression, CALL_IN_MARKUP);
    }
    const awaits = this.isServerModule && expression.type === "AwaitExpression";
    for (const child of childrenOf(expression))
      this.rejectServerCalls(awaits ? unwrapExpression(child) : child, scope, awaits);
  }

  private checkElement({ openingElement, children }: ESTree.JSXElement, scope: Scope): void {
    const isIntrinsic = isIntrinsicName(openingElement.name);
    for (const attribute of openingElement.attributes) {
      if (attribute.type === "JSXAttribute") this.checkAttribute(attribute, isIntrinsic, scope);
    }
    if (isIntrinsic) return;
    const child = children.find(isContent) ?? openingElement.attributes.find(isChildrenProp);
    if (child) this.rejectChildrenOfView(openingElement.name, scope, child);
  }

  private checkAttribute(attribute: ESTree.JSXAttribute, isIntrinsic: boolean, scope: Scope): void {
    const name = attribute.name.type === "JSXIdentifier" ? attribute.name.name : "";
    const value =
      attribute.value?.type === "JSXExpressionContainer"
        ? unwrapExpression(attribute.value.expression)
        : attribute.value;
    const isHandler = /^on[A-Z]/.test(name);
    if (isHandler && (isIntrinsic || (value && !isData(value, scope)))) this.reject(FUNCTION_IN_PAGE, attribute);
    if (!isIntrinsic || !value) return;
    for (const possibleValue of possibleValues(value)) {
      if (isFunctionValue(possibleValue, scope)) this.reject(FUNCTION_IN_PAGE, attribute);
      this.rejectServerFunction(possibleValue, scope, attribute, FUNCTION_IN_PAGE);
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
      const resolved = await this.resolveImport(imported);
      if (resolved?.facts.functions.some((serverFunction) => serverFunction.name === resolved.name))
        this.reject(message, at);
    });
  }

  private rejectChildrenOfView(name: ESTree.JSXElementName, scope: Scope, at: SourceRange): void {
    const imported = importedNameOf(name, scope);
    if (!imported) return;
    this.pendingChecks.push(async () => {
      const resolved = await this.resolveImport(imported);
      const view = resolved?.facts.views.find((candidate) => candidate.name === resolved.name);
      if (!view) return;
      this.reject(
        `The view "${view.name}" cannot have children in a page, because only its props are sent to the browser. Render the children inside the view, or wrap both in one view.`,
        at,
      );
    });
  }

  private async resolveImport(imported: ImportedName): Promise<ResolvedExport | undefined> {
    const id = await this.resolver.resolve(imported.source, this.facts.source.file);
    return resolveExport(id, imported.name, this.resolver);
  }

  private reject(message: string, at: SourceRange): never {
    throw new CompileError(message, this.facts.source, at);
  }
}

/** Returns the object of a method call: `load.named(…)` is a call of `load`. */
function calleeObject(callee: Node): Node {
  return callee.type === "MemberExpression" ? unwrapExpression(callee.object) : callee;
}

/** Returns the import that an identifier, or a member of a namespace import, refers to. */
function importedNameOf(node: Node, scope: Scope): ImportedName | undefined {
  if (node.type === "Identifier" || node.type === "JSXIdentifier") {
    const imported = scope.findValue(node.name)?.imported;
    return imported?.name === "*" ? undefined : imported;
  }
  if (node.type !== "MemberExpression" && node.type !== "JSXMemberExpression") return undefined;
  const { object, property } = node;
  if (object.type !== "Identifier" && object.type !== "JSXIdentifier") return undefined;
  const namespace = scope.findValue(object.name)?.imported;
  const name =
    property.type === "Identifier" || property.type === "JSXIdentifier" ? property.name : stringValue(property);
  return namespace?.name === "*" && name !== undefined ? { source: namespace.source, name } : undefined;
}

function isIntrinsicName(name: ESTree.JSXElementName): boolean {
  return name.type === "JSXNamespacedName" || (name.type === "JSXIdentifier" && /^[a-z]|-/.test(name.name));
}

function isContent(child: ESTree.JSXChild): boolean {
  // JSX drops white space that contains a line break. Other white space is a child.
  if (child.type === "JSXText") return child.value.trim() !== "" || !child.value.includes("\n");
  return child.type !== "JSXExpressionContainer" || child.expression.type !== "JSXEmptyExpression";
}

function isChildrenProp(attribute: ESTree.JSXAttributeItem): boolean {
  return (
    attribute.type === "JSXAttribute" && attribute.name.type === "JSXIdentifier" && attribute.name.name === "children"
  );
}

/** Returns the expressions whose value an expression may have: the branches of `?:`, `&&`, `||` and `??`. */
function possibleValues(node: Node): Node[] {
  const inner = unwrapExpression(node);
  if (inner.type === "ConditionalExpression")
    return [...possibleValues(inner.consequent), ...possibleValues(inner.alternate)];
  if (inner.type === "LogicalExpression") return [...possibleValues(inner.left), ...possibleValues(inner.right)];
  return [inner];
}

function isFunctionValue(node: Node, scope: Scope): boolean {
  if (isFunctionNode(node)) return true;
  const binding = node.type === "Identifier" ? scope.findValue(node.name) : undefined;
  return (binding?.declarations ?? []).some((declaration) => {
    if (isFunctionNode(declaration)) return binding?.kind === "function";
    const init =
      declaration.type === "VariableDeclarator" && declaration.id.type === "Identifier" ? declaration.init : null;
    return init ? isFunctionNode(unwrapExpression(init)) : false;
  });
}

/** Returns whether an expression cannot be a function. Errs towards no. */
function isData(node: Node, scope: Scope): boolean {
  return possibleValues(node).every((possibleValue) => {
    switch (possibleValue.type) {
      case "Literal":
      case "TemplateLiteral":
      case "ObjectExpression":
      case "ArrayExpression":
      case "UnaryExpression":
      case "BinaryExpression":
      case "JSXElement":
      case "JSXFragment":
        return true;
      case "Identifier":
        return possibleValue.name === "undefined" && !scope.findValue("undefined");
      default:
        return false;
    }
  });
}
