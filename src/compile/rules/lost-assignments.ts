import type { ESTree } from "vite";
import { findComponents, type ModuleFacts } from "../modules/index.ts";
import {
  type Binding,
  CompileError,
  declaredValue,
  isFunctionNode,
  memberName,
  memberPath,
  type Node,
  type Scope,
  type SourceFile,
  unwrapExpression,
} from "../syntax/index.ts";
import {
  type Assignment,
  assignmentTo,
  findHandlers,
  functionsAround,
  isBrowserImport,
  isMarkupValue,
  type ModuleUses,
  type Path,
  pathNodes,
  readUses,
  type Use,
  type Variable,
} from "./variable-uses.ts";

/**
 * Rejects assignments of event handlers that a component never shows: to a copy of a state, to the variable of a state, and
 * to a variable of its body.
 *
 * @throws CompileError at the assignment
 */
export function checkLostAssignments(module: ModuleFacts): void {
  const { source } = module;
  const { code } = source;
  if (module.isServerModule) return;
  if (!/\b(?:let|var)\b/.test(code) || !/\bon(?:[A-Z]|_mount\b)/.test(code)) return;
  const uses = readUses(module.program, module.scopes);
  if (uses.variables.length === 0) return;
  const running = findHandlers(uses);
  checkLostState(uses, running, source);
  const components = new Set<Node>(findComponents(module).map(({ fn }) => fn));
  checkLostVariables(uses, { running, components, source });
}

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
function checkLostState(module: ModuleUses, handlers: ReadonlySet<Node>, source: SourceFile): void {
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

/** The module of a variable, and what was found in it. */
interface Context extends ModuleUses {
  /** The functions that run after the rendering. */
  readonly running: ReadonlySet<Node>;
  /** Those of them that also run while a component is rendered. */
  readonly rendering: ReadonlySet<Node>;
}

/**
 * Rejects a variable in the body of a component that is rendered, and that only event handlers change: each rendering
 * creates it again, and its change renders nothing. Variables that a handler also reads are accepted, as is anything else
 * that may be intended.
 *
 * @param components the functions of the module that are rendered
 * @throws CompileError at the first assignment
 */
function checkLostVariables(
  module: ModuleUses,
  { running, components, source }: { running: ReadonlySet<Node>; components: ReadonlySet<Node>; source: SourceFile },
): void {
  const variables = module.variables.filter(({ isInBody, owner }) => isInBody && components.has(owner));
  if (variables.length === 0) return;
  const context = { ...module, running, rendering: calledInRendering(module, running) };
  for (const variable of variables) {
    const assignment = lostAssignment(variable, context);
    if (assignment) throw new CompileError(lostVariableMessage(variable, assignment, source), source, assignment);
  }
}

/** The maximum length of an initial value that is repeated in the message. */
const MAX_INIT_LENGTH = 30;

function lostVariableMessage(
  { declarator: { id, init } }: Variable,
  assignment: Assignment,
  { code }: SourceFile,
): string {
  const name = code.slice(id.start, id.end).replace(/\W.*$/s, "");
  const text = init ? code.slice(init.start, init.end) : "undefined";
  const value = text.length > MAX_INIT_LENGTH || text.includes("\n") ? "…" : text;
  const change = assignment.type === "UpdateExpression" ? `own.${name}${assignment.operator}` : `own.${name} = …`;
  return (
    `${name} is a variable that each rendering creates again, so this assignment is never shown. Use a state: ` +
    `\`const own = state({ ${name}: ${value} })\`, and \`${change}\` here.`
  );
}

/** Returns the first assignment of a variable if none is ever shown. Errs towards `undefined`. */
function lostAssignment({ declarator, scope, owner }: Variable, module: Context): Assignment | undefined {
  if (declarator.id.type !== "Identifier") return undefined;
  const init = declarator.init && unwrapExpression(declarator.init);
  if (init?.type === "CallExpression" && isBrowserImport(init.callee, "state", scope)) return undefined;
  const binding = scope.findValue(declarator.id.name);
  if (!binding?.reassigned || binding.declarations.length > 1) return undefined;
  const uses = (module.usesOf.get(binding) ?? []).filter(({ path }) => path.node !== declarator.id);
  const assignments = uses.flatMap(({ path }) => assignmentTo(path) ?? []);
  const assigning = new Set<Node>(assignments);
  let isRendered = false;
  for (const { path } of uses) {
    const around = pathNodes(path, owner);
    if (assignmentTo(path)) {
      const functions = functionsAround(path, owner);
      if (!functions.some((fn) => module.running.has(fn))) return undefined;
      if (functions.some((fn) => module.rendering.has(fn))) return undefined;
    } else if (isRenderedValue(path, owner)) {
      isRendered = true;
    } else if (!around.some((node) => assigning.has(node) || isConsoleCall(node))) {
      return undefined;
    }
  }
  return isRendered ? assignments[0] : undefined;
}

/** Returns the event handlers that are also called while a component is rendered, and the functions that they call. */
function calledInRendering(module: ModuleUses, running: ReadonlySet<Node>): ReadonlySet<Node> {
  const called = module.uses.flatMap(({ binding, path }) => {
    const fns = binding.declarations.map(declaredValue).filter((fn) => fn && running.has(fn));
    return fns.length > 0 && isCall(path, binding.scope) && !functionsAround(path).some((fn) => running.has(fn))
      ? fns
      : [];
  });
  return findHandlers({ ...module, handlers: new Set(called.flatMap((fn) => fn ?? [])) });
}

/** Returns whether a function is called, or passed to a function: `add()`, `items.forEach(add)`. */
function isCall(path: Path, scope: Scope): boolean {
  const call = path.outer?.node;
  return call?.type === "CallExpression" && !isBrowserImport(call.callee, "on_mount", scope);
}

/** Attributes whose values are not shown. */
const UNRENDERED = /^(?:ref|key|on[A-Z].*)$/;

/** Returns whether a variable is read in markup while the component is rendered. */
function isRenderedValue(path: Path, owner: Node): boolean {
  const around = pathNodes(path, owner);
  const isLater = around.some((node, index) => isFunctionNode(node) && !isCallback(node, around[index + 1]));
  const isHidden = around.some(
    (node) => node.type === "JSXAttribute" && node.name.type === "JSXIdentifier" && UNRENDERED.test(node.name.name),
  );
  const isTarget = around.some(({ type }) => type === "AssignmentExpression" || type === "UpdateExpression");
  return !isLater && !isHidden && !isTarget && around.some(isMarkupValue);
}

/** The methods of arrays that call their argument before they return. */
const CALLBACK_METHODS: ReadonlySet<string> = new Set(["map", "flatMap", "filter", "find", "some", "every"]);

function isCallback(fn: Node, outer: Node | undefined): boolean {
  if (outer?.type !== "CallExpression" || outer.callee === fn) return false;
  const callee: ESTree.Expression | Node = unwrapExpression(outer.callee);
  return callee.type === "MemberExpression" && CALLBACK_METHODS.has(memberName(callee) ?? "");
}

function isConsoleCall(node: Node): boolean {
  return node.type === "CallExpression" && memberPath(node.callee)?.[0] === "console";
}
