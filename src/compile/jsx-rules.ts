import type { ESTree } from "vite";
import { CompileError, type Span } from "./errors.ts";
import type { ModuleFacts } from "./module.ts";
import { isServerModule } from "./parse.ts";
import type { Imported, Scope } from "./scope.ts";
import { walkScoped } from "./scope.ts";
import { childrenOf, isFunction, type Node, stringValue, unwrap } from "./walk.ts";
import { type Origin, originOf, type World } from "./world.ts";

const CALL_IN_MARKUP =
  "A server call cannot stand in markup, which is made at once: call it in an event handler or in `on_mount` and show what it gave, or await it in the page function.";

const FUNCTION_IN_PAGE =
  "Nothing would ever call this function: a page's markup reaches the browser as HTML alone. Put this element into a view and use the view here.";

const SHARED_STATE =
  "`state()` belongs inside a view, where every visitor has their own: at module level, all visitors would share it on the server. What is the same for all is a constant.";

/**
 * Checks a module's markup: no server call stands directly in it, and in a server module no function is
 * given to what can never call it, and no children to a view. And no view's variables stand outside of it.
 *
 * @throws CompileError at what is refused
 */
export async function checkMarkup(facts: ModuleFacts, world: World): Promise<void> {
  const check = new MarkupCheck(facts, world);
  walkScoped(facts.program, facts.scopes.module, facts.scopes, (node, scope) => {
    check.node(node, scope);
    return true;
  });
  await check.finish();
}

class MarkupCheck {
  private readonly facts: ModuleFacts;
  private readonly world: World;
  private readonly isPage: boolean;
  /** What has to be looked up in other modules before it can be judged. */
  private readonly open: (() => Promise<void>)[] = [];

  constructor(facts: ModuleFacts, world: World) {
    this.facts = facts;
    this.world = world;
    this.isPage = isServerModule(facts.source.file);
  }

  node(node: Node, scope: Scope): void {
    if (node.type === "JSXExpressionContainer" || node.type === "JSXSpreadChild") this.calls(node.expression, scope);
    if (node.type === "JSXSpreadAttribute") this.calls(node.argument, scope);
    if (this.isPage && node.type === "JSXElement") this.element(node, scope);
    if (node.type === "CallExpression" && scope.functionScope.isModule) this.atModuleLevel(node, scope);
  }

  private atModuleLevel(call: ESTree.CallExpression, scope: Scope): void {
    const callee = unwrap(call.callee);
    const imported = callee.type === "Identifier" ? scope.value(callee.name)?.imported : undefined;
    if (imported?.source === "tsweb/browser" && imported.name === "state") {
      throw new CompileError(SHARED_STATE, this.facts.source, call);
    }
  }

  async finish(): Promise<void> {
    for (const look of this.open) await look();
  }

  /** Looks for server calls in an expression, nested functions aside: those run later. One may be awaited in a page. */
  private calls(expression: Node, scope: Scope, isAwaited = false): void {
    if (isFunction(expression) || expression.type === "JSXElement" || expression.type === "JSXFragment") return;
    if (expression.type === "CallExpression" && !isAwaited) {
      const callee = unwrap(expression.callee);
      this.ifServerFunction(calledObject(callee), scope, expression, CALL_IN_MARKUP);
      if (callee.type === "MemberExpression") this.ifServerFunction(callee, scope, expression, CALL_IN_MARKUP);
    }
    const awaits = this.isPage && expression.type === "AwaitExpression";
    for (const child of childrenOf(expression)) this.calls(awaits ? unwrap(child) : child, scope, awaits);
  }

  private element({ openingElement, children }: ESTree.JSXElement, scope: Scope): void {
    const isIntrinsic = isIntrinsicName(openingElement.name);
    for (const attribute of openingElement.attributes) {
      if (attribute.type === "JSXAttribute") this.attribute(attribute, isIntrinsic, scope);
    }
    if (isIntrinsic) return;
    const child = children.find(isContent) ?? openingElement.attributes.find(isChildrenProp);
    if (child) this.ifView(openingElement.name, scope, child);
  }

  private attribute(attribute: ESTree.JSXAttribute, isIntrinsic: boolean, scope: Scope): void {
    const name = attribute.name.type === "JSXIdentifier" ? attribute.name.name : "";
    const value =
      attribute.value?.type === "JSXExpressionContainer" ? unwrap(attribute.value.expression) : attribute.value;
    const isHandler = /^on[A-Z]/.test(name);
    if (isHandler && (isIntrinsic || (value && !isData(value, scope)))) this.refuse(FUNCTION_IN_PAGE, attribute);
    if (!isIntrinsic || !value) return;
    for (const each of outcomes(value)) {
      if (isFunctionValue(each, scope)) this.refuse(FUNCTION_IN_PAGE, attribute);
      this.ifServerFunction(each, scope, attribute, FUNCTION_IN_PAGE);
    }
  }

  private ifServerFunction(node: Node, scope: Scope, at: Span, sentence: string): void {
    const local = node.type === "Identifier" ? scope.value(node.name) : undefined;
    const isOwn = this.facts.marks.some(
      (mark) => mark.kind === "server" && local?.scope.isModule && mark.local === local.name,
    );
    if (isOwn) this.refuse(sentence, at);
    const imported = importedBy(node, scope);
    if (!imported) return;
    this.open.push(async () => {
      const origin = await this.origin(imported);
      if (origin?.facts.functions.some((each) => each.name === origin.name)) this.refuse(sentence, at);
    });
  }

  private ifView(name: ESTree.JSXElementName, scope: Scope, at: Span): void {
    const imported = importedBy(name, scope);
    if (!imported) return;
    this.open.push(async () => {
      const origin = await this.origin(imported);
      const view = origin?.facts.views.find((each) => each.name === origin.name);
      if (!view) return;
      this.refuse(
        `The view "${view.name}" cannot be given children in a page, since only its props travel to the browser: let it make its own, or wrap both in one view.`,
        at,
      );
    });
  }

  private async origin(imported: Imported): Promise<Origin | undefined> {
    const id = await this.world.resolve(imported.source, this.facts.source.file);
    return originOf(id, imported.name, this.world);
  }

  private refuse(sentence: string, at: Span): never {
    throw new CompileError(sentence, this.facts.source, at);
  }
}

/** `load.named(…)` is a call of `load`. */
function calledObject(callee: Node): Node {
  return callee.type === "MemberExpression" ? unwrap(callee.object) : callee;
}

/** Finds the import behind a name, or behind a member of a namespace. */
function importedBy(node: Node, scope: Scope): Imported | undefined {
  if (node.type === "Identifier" || node.type === "JSXIdentifier") {
    const imported = scope.value(node.name)?.imported;
    return imported?.name === "*" ? undefined : imported;
  }
  if (node.type !== "MemberExpression" && node.type !== "JSXMemberExpression") return undefined;
  const { object, property } = node;
  if (object.type !== "Identifier" && object.type !== "JSXIdentifier") return undefined;
  const namespace = scope.value(object.name)?.imported;
  const name =
    property.type === "Identifier" || property.type === "JSXIdentifier" ? property.name : stringValue(property);
  return namespace?.name === "*" && name !== undefined ? { source: namespace.source, name } : undefined;
}

function isIntrinsicName(name: ESTree.JSXElementName): boolean {
  return name.type === "JSXNamespacedName" || (name.type === "JSXIdentifier" && /^[a-z]|-/.test(name.name));
}

function isContent(child: ESTree.JSXChild): boolean {
  // White space with a line break in it is layout of the text; without, it is a child.
  if (child.type === "JSXText") return child.value.trim() !== "" || !child.value.includes("\n");
  return child.type !== "JSXExpressionContainer" || child.expression.type !== "JSXEmptyExpression";
}

function isChildrenProp(attribute: ESTree.JSXAttributeItem): boolean {
  return (
    attribute.type === "JSXAttribute" && attribute.name.type === "JSXIdentifier" && attribute.name.name === "children"
  );
}

/** Gives the values that an expression can come to, as far as its text says. */
function outcomes(node: Node): Node[] {
  const inner = unwrap(node);
  if (inner.type === "ConditionalExpression") return [...outcomes(inner.consequent), ...outcomes(inner.alternate)];
  if (inner.type === "LogicalExpression") return [...outcomes(inner.left), ...outcomes(inner.right)];
  return [inner];
}

function isFunctionValue(node: Node, scope: Scope): boolean {
  if (isFunction(node)) return true;
  const binding = node.type === "Identifier" ? scope.value(node.name) : undefined;
  return (binding?.nodes ?? []).some((declared) => {
    if (isFunction(declared)) return binding?.kind === "function";
    const init = declared.type === "VariableDeclarator" && declared.id.type === "Identifier" ? declared.init : null;
    return init ? isFunction(unwrap(init)) : false;
  });
}

/** Answers whether a value is plain data, however its prop is called. Errs towards no. */
function isData(node: Node, scope: Scope): boolean {
  return outcomes(node).every((each) => {
    switch (each.type) {
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
        return each.name === "undefined" && !scope.value("undefined");
      default:
        return false;
    }
  });
}
