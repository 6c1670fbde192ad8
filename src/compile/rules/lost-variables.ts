import type { ESTree } from "vite";
import {
  CompileError,
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
  type Variable,
} from "./variable-uses.ts";

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
export function checkLostVariables(
  module: ModuleUses,
  { running, components, source }: { running: ReadonlySet<Node>; components: ReadonlySet<Node>; source: SourceFile },
): void {
  const variables = module.variables.filter(({ isInBody, owner }) => isInBody && components.has(owner));
  if (variables.length === 0) return;
  const context = { ...module, running, rendering: calledInRendering(module, running) };
  for (const variable of variables) {
    const assignment = lostAssignment(variable, context);
    if (assignment) throw new CompileError(messageFor(variable, assignment, source), source, assignment);
  }
}

/** The maximum length of an initial value that is repeated in the message. */
const MAX_INIT_LENGTH = 30;

function messageFor({ declarator: { id, init } }: Variable, assignment: Assignment, { code }: SourceFile): string {
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
    const fns = binding.declarations.map(functionOf).filter((fn) => fn && running.has(fn));
    return fns.length > 0 && isCall(path, binding.scope) && !functionsAround(path).some((fn) => running.has(fn))
      ? fns
      : [];
  });
  return findHandlers({ ...module, handlers: new Set(called.flatMap((fn) => fn ?? [])) });
}

function functionOf(declaration: Node): Node | undefined {
  if (declaration.type !== "VariableDeclarator") return declaration;
  return declaration.init ? unwrapExpression(declaration.init) : undefined;
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
