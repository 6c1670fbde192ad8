import {
  type Binding,
  CompileError,
  isFunctionNode,
  memberPath,
  type Node,
  type Scope,
  type SourceFile,
  unwrapExpression,
} from "../syntax/index.ts";
import {
  type Assignment,
  assignmentTo,
  functionsAround,
  isBrowserImport,
  isMarkupValue,
  type ModuleUses,
  type Path,
  pathNodes,
  type Use,
  type Variable,
} from "./variable-uses.ts";

/** A variable that is a state, or a copy of a property of a state, and can be assigned. */
interface StateVariable {
  readonly binding: Binding;
  /** The function that declares it, or the program. */
  readonly owner: Node;
  /** The name of the state; `undefined` if it has none: `let { name } = state({ … })`. */
  readonly state: string | undefined;
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
export function checkLostState(module: ModuleUses, handlers: ReadonlySet<Node>, source: SourceFile): void {
  for (const variable of module.variables.flatMap(variablesOf)) {
    const uses = module.usesOf.get(variable.binding) ?? [];
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
  if (property === undefined) {
    return (
      `${state} is replaced, which the view does not notice. Assign to its properties: \`${state}.name = …\`, or ` +
      `\`Object.assign(${state}, { … })\`.`
    );
  }
  const copy = `${binding.name} is a copy, so that this assignment does not change the state.`;
  if (state !== undefined) return `${copy} Write \`${state}.${property} = …\`.`;
  return `${copy} Write \`const own = state({ … })\`, and \`own.${property} = …\` here.`;
}

function variablesOf({ declarator: { id, init }, scope, owner }: Variable): StateVariable[] {
  const value = init && unwrapExpression(init);
  const variable = (name: string, rest: { state: string | undefined; property?: string }): StateVariable[] => {
    const binding = scope.findValue(name);
    return binding?.reassigned && binding.declarations.length === 1 ? [{ binding, owner, ...rest }] : [];
  };
  if (value && id.type === "Identifier") return isState(value, scope) ? variable(id.name, { state: id.name }) : [];
  if (!value || id.type !== "ObjectPattern") return [];
  const isNamed = value.type === "Identifier" && isStateName(value.name, scope);
  if (!isNamed && !isState(value, scope)) return [];
  const state = isNamed ? value.name : undefined;
  return id.properties.flatMap((property) => {
    if (property.type === "RestElement" || property.computed || property.key.type !== "Identifier") return [];
    const target = property.value.type === "AssignmentPattern" ? property.value.left : property.value;
    if (target.type !== "Identifier") return [];
    return variable(target.name, { state, property: property.key.name });
  });
}

/** Returns whether a name is declared once, as a state. */
function isStateName(name: string, scope: Scope): boolean {
  const [declaration, ...others] = scope.findValue(name)?.declarations ?? [];
  if (declaration?.type !== "VariableDeclarator" || others.length > 0 || declaration.id.type !== "Identifier")
    return false;
  return declaration.init ? isState(unwrapExpression(declaration.init), scope) : false;
}

function isState(node: Node, scope: Scope): boolean {
  return node.type === "CallExpression" && isBrowserImport(node.callee, "state", scope);
}

function createsObject(assignment: Assignment): boolean {
  if (assignment.type !== "AssignmentExpression" || assignment.operator !== "=") return false;
  return unwrapExpression(assignment.right).type === "ObjectExpression";
}

/** Returns whether a rendered copy is assigned and no function reads what was assigned. Errs towards no. */
function isLostCopy(path: Path, handler: Node, uses: readonly Use[], { owner }: StateVariable): boolean {
  if (pathNodes(path, handler).some(({ type }) => /^(?:For|While|DoWhile)/.test(type))) return false;
  const assignments = new Set<Node | undefined>(uses.map((use) => assignmentTo(use.path)));
  const reads = uses.filter(
    (use) =>
      !pathNodes(use.path, owner).some((node) => assignments.has(node)) &&
      !pathNodes(use.path, owner).some(({ type }) => type === "ObjectPattern"),
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

function isWriteOfProperty(node: Node): boolean {
  if (node.type === "AssignmentExpression") return node.left.type === "MemberExpression";
  return node.type === "CallExpression" && memberPath(node.callee)?.join(".") === "Object.assign";
}
