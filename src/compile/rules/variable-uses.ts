import type { ESTree } from "vite";
import { attributesOf, importedNameOf, possibleValues } from "../modules/index.ts";
import {
  type Binding,
  childrenOf,
  declaredValue,
  isFunctionNode,
  type Node,
  type Scope,
  type Scopes,
  unwrapExpression,
} from "../syntax/index.ts";

/** A node and the nodes around it. */
export interface Path {
  readonly node: Node;
  readonly outer: Path | undefined;
}

/** A use of a variable. */
export interface Use {
  readonly binding: Binding;
  readonly path: Path;
}

/** A declarator of `let` or `var`. */
export interface Variable {
  readonly declarator: ESTree.VariableDeclarator;
  readonly scope: Scope;
  /** The function that declares it, or the program. */
  readonly owner: Node;
  /** Whether the declaration is a statement of the function itself, and of no block in it. */
  readonly isInBody: boolean;
}

/** The variables of a module, where they are used, and its event handlers. */
export interface ModuleUses {
  readonly uses: Use[];
  readonly usesOf: Map<Binding, Use[]>;
  readonly variables: Variable[];
  /** The functions in event attributes and `on_mount`, and the names there. */
  readonly handlers: Set<Node>;
}

/** Reads the uses of all variables of a module. */
export function readUses(program: ESTree.Program, scopes: Scopes): ModuleUses {
  const found: ModuleUses = { uses: [], usesOf: new Map(), variables: [], handlers: new Set() };
  const visit = (node: Node, outer: Path | undefined, outerScope: Scope) => {
    const path = { node, outer };
    const scope = scopes.byNode.get(node) ?? outerScope;
    if (node.type === "Identifier" && !isKey(node, outer?.node)) {
      const binding = scope.findValue(node.name);
      if (binding) addUse(found, { binding, path });
    }
    if (node.type === "VariableDeclaration" && node.kind !== "const") {
      const owner = functionsAround(path, program)[0] ?? program;
      const isInBody = "body" in owner && owner.body === outer?.node;
      for (const declarator of node.declarations) found.variables.push({ declarator, scope, owner, isInBody });
    }
    for (const value of handlerValues(node, scope)) found.handlers.add(value);
    for (const child of childrenOf(node)) visit(child, path, scope);
  };
  visit(program, undefined, scopes.module);
  return found;
}

function addUse({ uses, usesOf }: ModuleUses, use: Use): void {
  uses.push(use);
  const others = usesOf.get(use.binding);
  if (others) others.push(use);
  else usesOf.set(use.binding, [use]);
}

/** Returns whether an identifier is the name of a property, and no variable. */
function isKey(node: Node, outer: Node | undefined): boolean {
  if (outer?.type === "MemberExpression") return outer.property === node && !outer.computed;
  return outer?.type === "Property" && outer.key === node && !outer.computed;
}

/** Returns whether an expression is a function of tsweb/browser. */
export function isBrowserImport(node: Node, name: string, scope: Scope): boolean {
  const imported = importedNameOf(unwrapExpression(node), scope);
  return imported?.source === "tsweb/browser" && imported.name === name;
}

/** Returns what a node registers as an event handler or with `on_mount`. */
function handlerValues(node: Node, scope: Scope): Node[] {
  if (node.type === "CallExpression" && isBrowserImport(node.callee, "on_mount", scope)) {
    return node.arguments.slice(0, 1).flatMap(possibleValues);
  }
  if (node.type !== "JSXOpeningElement") return [];
  return attributesOf(node).flatMap(({ name, value }) => (value && /^on[A-Z]/.test(name) ? possibleValues(value) : []));
}

/** Returns the functions that are event handlers, and those that these call. */
export function findHandlers({ uses, handlers }: ModuleUses): ReadonlySet<Node> {
  const found = new Set(handlers);
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { binding, path } of uses) {
      const [declaration] = binding.declarations;
      if (!declaration || !pathNodes(path).some((node) => found.has(node))) continue;
      const fn = declaredValue(declaration);
      if (fn && isFunctionNode(fn)) found.add(fn);
    }
  }
  return found;
}

/** Returns a node and the nodes around it, up to and without `end`. */
export function pathNodes(path: Path, end?: Node): Node[] {
  const nodes: Node[] = [];
  for (let each: Path | undefined = path; each && each.node !== end; each = each.outer) nodes.push(each.node);
  return nodes;
}

/** Returns the functions around a node, the innermost first, up to and without `owner`. */
export function functionsAround(path: Path, owner?: Node): Node[] {
  return pathNodes(path, owner).filter(isFunctionNode);
}

/** An expression that assigns to a variable. */
export type Assignment = ESTree.AssignmentExpression | ESTree.UpdateExpression;

/** Returns the statement that assigns to a variable: `name = …;`, `name++;`, or `() => (name = …)`. */
export function assignmentTo(path: Path): Assignment | undefined {
  const [target, assignment, ...around] = pathNodes(path);
  const isAssignment = assignment?.type === "AssignmentExpression" && assignment.left === target;
  if (!isAssignment && assignment?.type !== "UpdateExpression") return undefined;
  const outer = around.find((node) => node.type !== "ParenthesizedExpression");
  return outer?.type === "ExpressionStatement" || outer?.type === "ArrowFunctionExpression" ? assignment : undefined;
}

/** Returns whether a node contains a value of markup. */
export function isMarkupValue({ type }: Node): boolean {
  return type === "JSXExpressionContainer" || type === "JSXSpreadAttribute";
}
