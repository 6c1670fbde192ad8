import type { ESTree } from "vite";
import { importedNameOf, possibleValues } from "./jsx-values.ts";
import {
  type Binding,
  CompileError,
  childrenOf,
  isFunctionNode,
  memberPath,
  type Node,
  type Scope,
  type Scopes,
  type SourceFile,
  unwrapExpression,
} from "./syntax/index.ts";

/** A node and the nodes around it. */
interface Path {
  readonly node: Node;
  readonly outer: Path | undefined;
}

/** A use of a variable. */
interface Use {
  readonly binding: Binding;
  readonly path: Path;
}

/** A variable that is a state, or a copy of a property of a state, and can be assigned. */
interface StateVariable {
  readonly binding: Binding;
  /** The function that declares it, or the program. */
  readonly owner: Node;
  /** The name of the state. */
  readonly state: string;
  /** The property that it is a copy of. */
  readonly property?: string;
}

/**
 * Rejects assignments of event handlers that look like a change of a state and change only a variable: a rendered variable
 * that was destructured from the state, or the variable of the state itself. Copies that a handler goes on to use are
 * accepted.
 *
 * @throws CompileError at the assignment
 */
export function checkLostState(program: ESTree.Program, source: SourceFile, scopes: Scopes): void {
  const { code } = source;
  if (!code.includes("tsweb/browser") || !/\bstate\b/.test(code) || !/\b(?:let|var)\b/.test(code)) return;
  const module = readUses(program, scopes);
  if (module.variables.length === 0) return;
  const handlers = findHandlers(module);
  for (const variable of module.variables) {
    const uses = module.uses.filter(({ binding }) => binding === variable.binding);
    for (const { path } of uses) {
      const assignment = assignmentTo(path);
      const handler = assignment && functionsAround(path, variable.owner).findLast((fn) => handlers.has(fn));
      if (!assignment || !handler) continue;
      const isLost =
        variable.property === undefined ? createsObject(assignment) : isLostCopy(path, handler, uses, variable);
      if (isLost) throw new CompileError(messageFor(variable), source, assignment);
    }
  }
}

function messageFor({ binding, state, property }: StateVariable): string {
  return property === undefined
    ? `${state} is replaced, which the view does not notice. Assign to its properties: \`${state}.name = …\`, or ` +
        `\`Object.assign(${state}, { … })\`.`
    : `${binding.name} is a copy, so that this assignment does not change the state. Write \`${state}.${property} = …\`.`;
}

/** What the check needs of a module. */
interface ModuleUses {
  readonly uses: Use[];
  readonly variables: StateVariable[];
  /** The functions in event attributes and `on_mount`, and the names there. */
  readonly handlers: Set<Node>;
}

function readUses(program: ESTree.Program, scopes: Scopes): ModuleUses {
  const found: ModuleUses = { uses: [], variables: [], handlers: new Set() };
  const visit = (node: Node, outer: Path | undefined, outerScope: Scope) => {
    const path = { node, outer };
    const scope = scopes.byNode.get(node) ?? outerScope;
    if (node.type === "Identifier" && !isKey(node, outer?.node)) {
      const binding = scope.findValue(node.name);
      if (binding) found.uses.push({ binding, path });
    }
    if (node.type === "VariableDeclaration" && node.kind !== "const") {
      const owner = functionsAround(path, program)[0] ?? program;
      for (const declarator of node.declarations) found.variables.push(...variablesOf(declarator, scope, owner));
    }
    for (const value of handlerValues(node, scope)) found.handlers.add(value);
    for (const child of childrenOf(node)) visit(child, path, scope);
  };
  visit(program, undefined, scopes.module);
  return found;
}

/** Returns whether an identifier is the name of a property, and no variable. */
function isKey(node: Node, outer: Node | undefined): boolean {
  if (outer?.type === "MemberExpression") return outer.property === node && !outer.computed;
  return outer?.type === "Property" && outer.key === node && !outer.computed;
}

function variablesOf({ id, init }: ESTree.VariableDeclarator, scope: Scope, owner: Node): StateVariable[] {
  const value = init && unwrapExpression(init);
  const variable = (name: string, rest: { state: string; property?: string }): StateVariable[] => {
    const binding = scope.findValue(name);
    return binding?.reassigned && binding.declarations.length === 1 ? [{ binding, owner, ...rest }] : [];
  };
  if (value && id.type === "Identifier") return isState(value, scope) ? variable(id.name, { state: id.name }) : [];
  if (value?.type !== "Identifier" || id.type !== "ObjectPattern") return [];
  const [declaration, ...others] = scope.findValue(value.name)?.declarations ?? [];
  if (declaration?.type !== "VariableDeclarator" || others.length > 0 || declaration.id.type !== "Identifier")
    return [];
  if (!declaration.init || !isState(unwrapExpression(declaration.init), scope)) return [];
  return id.properties.flatMap((property) => {
    if (property.type === "RestElement" || property.computed || property.key.type !== "Identifier") return [];
    const target = property.value.type === "AssignmentPattern" ? property.value.left : property.value;
    if (target.type !== "Identifier") return [];
    return variable(target.name, { state: value.name, property: property.key.name });
  });
}

function isState(node: Node, scope: Scope): boolean {
  return node.type === "CallExpression" && isBrowserImport(node.callee, "state", scope);
}

function isBrowserImport(node: Node, name: string, scope: Scope): boolean {
  const imported = importedNameOf(unwrapExpression(node), scope);
  return imported?.source === "tsweb/browser" && imported.name === name;
}

/** Returns what a node registers as an event handler or with `on_mount`. */
function handlerValues(node: Node, scope: Scope): Node[] {
  if (node.type === "CallExpression" && isBrowserImport(node.callee, "on_mount", scope)) {
    return node.arguments.slice(0, 1).flatMap(possibleValues);
  }
  if (node.type !== "JSXAttribute" || node.name.type !== "JSXIdentifier" || !/^on[A-Z]/.test(node.name.name)) return [];
  const { value } = node;
  return value?.type === "JSXExpressionContainer" ? possibleValues(value.expression) : [];
}

/** Returns the functions that are event handlers, and those that these call. */
function findHandlers({ uses, handlers }: ModuleUses): ReadonlySet<Node> {
  const found = new Set(handlers);
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { binding, path } of uses) {
      const [declaration] = binding.declarations;
      if (!declaration || !pathNodes(path).some((node) => found.has(node))) continue;
      const init = declaration.type === "VariableDeclarator" && declaration.init;
      const fn = init ? unwrapExpression(init) : declaration;
      if (isFunctionNode(fn)) found.add(fn);
    }
  }
  return found;
}

/** Returns a node and the nodes around it, up to and without `end`. */
function pathNodes(path: Path, end?: Node): Node[] {
  const nodes: Node[] = [];
  for (let each: Path | undefined = path; each && each.node !== end; each = each.outer) nodes.push(each.node);
  return nodes;
}

/** Returns the functions around a node, the innermost first, up to and without `owner`. */
function functionsAround(path: Path, owner: Node): Node[] {
  return pathNodes(path, owner).filter(isFunctionNode);
}

/** Returns the assignment statement whose target is a variable: `name = …;`, or `() => (name = …)`. */
function assignmentTo(path: Path): ESTree.AssignmentExpression | undefined {
  const [target, assignment, ...around] = pathNodes(path);
  if (assignment?.type !== "AssignmentExpression" || assignment.left !== target) return undefined;
  const outer = around.find((node) => node.type !== "ParenthesizedExpression");
  return outer?.type === "ExpressionStatement" || outer?.type === "ArrowFunctionExpression" ? assignment : undefined;
}

function createsObject({ operator, right }: ESTree.AssignmentExpression): boolean {
  return operator === "=" && unwrapExpression(right).type === "ObjectExpression";
}

/** Returns whether a rendered copy is assigned and no function reads what was assigned. Errs towards no. */
function isLostCopy(path: Path, handler: Node, uses: readonly Use[], { owner }: StateVariable): boolean {
  if (pathNodes(path, handler).some(({ type }) => /^(?:For|While|DoWhile)/.test(type))) return false;
  const reads = uses.filter(
    (use) => !assignmentTo(use.path) && !pathNodes(use.path, owner).some(({ type }) => type === "ObjectPattern"),
  );
  const isRendered = reads.some(
    (read) => functionsAround(read.path, owner).length === 0 && pathNodes(read.path, owner).some(isMarkupValue),
  );
  const isUsed = reads.some(({ path: read }) => {
    const around = pathNodes(read, owner);
    return around.includes(handler)
      ? read.node.start > path.node.start
      : around.some(isFunctionNode) && around.some(isWriteOfProperty);
  });
  return isRendered && !isUsed;
}

function isMarkupValue({ type }: Node): boolean {
  return type === "JSXExpressionContainer" || type === "JSXSpreadAttribute";
}

function isWriteOfProperty(node: Node): boolean {
  if (node.type === "AssignmentExpression") return node.left.type === "MemberExpression";
  return node.type === "CallExpression" && memberPath(node.callee)?.join(".") === "Object.assign";
}
