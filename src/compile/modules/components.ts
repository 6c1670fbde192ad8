import type { ESTree } from "vite";
import {
  type FunctionNode,
  isFunctionNode,
  type Node,
  type Scope,
  type Scopes,
  unwrapExpression,
  walk,
} from "../syntax/index.ts";
import type { Declaration } from "./declarations.ts";

/** What is read of a module to find its components. */
export interface ComponentModule {
  readonly program: ESTree.Program;
  readonly scopes: Scopes;
  readonly declarations: readonly Declaration[];
}

/** A function that is rendered, and the name in messages. */
export interface FoundComponent {
  readonly fn: FunctionNode;
  readonly name: string;
}

/** Returns the functions of the module's views, and its functions with markup that are named like components. */
export function findComponents({ declarations, program, scopes }: ComponentModule): FoundComponent[] {
  const found = new Map<FunctionNode, string>();
  for (const { kind, call, name } of declarations) {
    const argument = kind === "view" && call.arguments[0] ? unwrapExpression(call.arguments[0]) : undefined;
    const fn = argument && (isFunctionNode(argument) ? argument : declaredFunction(argument, scopes.module));
    if (fn) found.set(fn, name);
  }
  for (const statement of program.body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    for (const { fn, name } of namedFunctions(declaration)) {
      // An async function is no component; a page may call it.
      if (/^\p{Lu}/u.test(name) && !found.has(fn) && !fn.async && rendersMarkup(fn)) found.set(fn, name);
    }
  }
  return [...found].map(([fn, name]) => ({ fn, name: name === "default" ? "the view" : name }));
}

function declaredFunction(node: Node, scope: Scope): FunctionNode | undefined {
  if (node.type !== "Identifier") return undefined;
  for (const declaration of scope.findValue(node.name)?.declarations ?? []) {
    if (isFunctionNode(declaration)) return declaration;
    const value = declaration.type === "VariableDeclarator" && declaration.init && unwrapExpression(declaration.init);
    if (value && isFunctionNode(value)) return value;
  }
  return undefined;
}

function namedFunctions(declaration: Node | null): FoundComponent[] {
  if (declaration?.type === "FunctionDeclaration") return [{ fn: declaration, name: declaration.id?.name ?? "" }];
  if (declaration?.type !== "VariableDeclaration") return [];
  return declaration.declarations.flatMap(({ id, init }) => {
    const fn = init && unwrapExpression(init);
    return id.type === "Identifier" && fn && isFunctionNode(fn) ? [{ fn, name: id.name }] : [];
  });
}

function rendersMarkup(fn: FunctionNode): boolean {
  let found = false;
  walk(fn, (node) => {
    found ||= node.type === "JSXElement" || node.type === "JSXFragment";
    return !found && (node === fn || !isFunctionNode(node));
  });
  return found;
}
