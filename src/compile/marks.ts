import type { ESTree } from "vite";
import { CompileError, type Source, type Span } from "./errors.ts";
import { exportedNames, type ModuleExports } from "./exports.ts";
import { isServerModule } from "./parse.ts";
import { type Scope, type Scopes, walkScoped } from "./scope.ts";
import { type Node, stringValue, unwrap } from "./walk.ts";

/** The functions that the compile step reads calls of. */
export type MarkName = "server" | "page" | "route" | "view";

/** A marked call, at a place where it may stand. */
export interface Mark {
  readonly kind: MarkName;
  readonly call: ESTree.CallExpression;
  /** The name under which the module exports it. */
  readonly name: string;
  /** Its name inside the module; none for `export default view(…)`. */
  readonly local?: string;
  /** What to point at when it is the declaration that is wrong. */
  readonly at: Span;
  /** The declaration, or what is wrapped around the call, has a type of its own. */
  readonly typedElsewhere: boolean;
}

const DOORS: Readonly<Record<string, readonly MarkName[]>> = {
  tsweb: ["server", "page", "route"],
  "tsweb/browser": ["view"],
};

/** Says which mark a call is, whatever name it was imported under; `undefined` for any other call. */
function markOf(call: ESTree.CallExpression, scope: Scope): MarkName | undefined {
  const callee = unwrap(call.callee);
  if (callee.type === "Identifier") {
    const imported = scope.value(callee.name)?.imported;
    return imported && markNamed(imported.source, imported.name);
  }
  if (callee.type !== "MemberExpression") return undefined;
  const object = unwrap(callee.object);
  const property =
    callee.property.type === "Identifier" && !callee.computed ? callee.property.name : stringValue(callee.property);
  const imported = object.type === "Identifier" ? scope.value(object.name)?.imported : undefined;
  return imported?.name === "*" && property !== undefined ? markNamed(imported.source, property) : undefined;
}

function markNamed(source: string, name: string): MarkName | undefined {
  return Object.hasOwn(DOORS, source) ? DOORS[source]?.find((mark) => mark === name) : undefined;
}

/**
 * Finds every marked call of a module.
 *
 * @throws CompileError for one that stands where nothing could find it, or in the wrong kind of module
 */
export function findMarks(program: ESTree.Program, scopes: Scopes, exports: ModuleExports, source: Source): Mark[] {
  const places = readPlaces(program);
  const marks: Mark[] = [];
  walkScoped(program, scopes.module, scopes, (node, scope) => {
    if (node.type !== "CallExpression") return true;
    const kind = markOf(node, scope);
    if (kind === undefined) return true;
    checkModule(kind, node, source);
    marks.push(placed(kind, node, { place: places.get(node), scope, exports, source }));
    return true;
  });
  return marks;
}

function checkModule(kind: MarkName, call: Node, source: Source): void {
  const base = source.file.slice(source.file.lastIndexOf("/") + 1);
  const isServer = isServerModule(source.file);
  if (kind === "view" && isServer) {
    throw new CompileError(
      `view() does not belong in a server module, whose text the browser never sees: put it in a file whose name does not end in .server.`,
      source,
      call,
    );
  }
  if (kind !== "view" && !isServer) {
    const better = base.replace(/\.([^.]+)$/, ".server.$1");
    throw new CompileError(
      `${kind}() belongs in a server module, so that the browser never sees its text: name this file "${better}".`,
      source,
      call,
    );
  }
}

/** Where a call stands at the top level: what it is the whole value of. */
type Place =
  | {
      readonly kind: "declarator";
      readonly declaration: ESTree.VariableDeclaration;
      readonly node: ESTree.VariableDeclarator;
    }
  | { readonly kind: "default"; readonly node: ESTree.ExportDefaultDeclaration };

function readPlaces(program: ESTree.Program): Map<Node, Place> {
  const places = new Map<Node, Place>();
  for (const statement of program.body) {
    if (statement.type === "ExportDefaultDeclaration") {
      places.set(unwrap(statement.declaration), { kind: "default", node: statement });
      continue;
    }
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration?.type !== "VariableDeclaration") continue;
    for (const node of declaration.declarations) {
      if (node.init) places.set(unwrap(node.init), { kind: "declarator", declaration, node });
    }
  }
  return places;
}

interface Situation {
  readonly place: Place | undefined;
  readonly scope: Scope;
  readonly exports: ModuleExports;
  readonly source: Source;
}

function placed(kind: MarkName, call: ESTree.CallExpression, situation: Situation): Mark {
  const { place, scope, exports, source } = situation;
  const refuse = (message: string, at: Span): never => {
    throw new CompileError(message, source, at);
  };
  const mend = `write \`export const ${kind === "view" ? "Name" : "name"} = ${kind}(…)\``;
  if (place === undefined) {
    return scope.isModule
      ? refuse(`${kind}() must be the whole value of an exported const: ${mend}.`, call)
      : refuse(`${kind}() must stand at the top level of its module, not inside a function or block: ${mend}.`, call);
  }
  if (place.kind === "default") {
    if (kind !== "view") return refuse(`${kind}() needs a name, and a default export has none: ${mend}.`, call);
    return { kind, call, name: "default", at: call, typedElsewhere: false };
  }
  const { declaration, node } = place;
  if (node.id.type !== "Identifier") return refuse(`What ${kind}() makes cannot be destructured: ${mend}.`, node.id);
  if (declaration.kind !== "const") {
    return refuse(`What ${kind}() makes must be declared with const: ${mend}.`, declaration);
  }
  const local = node.id.name;
  const [name, second] = exportedNames(exports, local);
  if (name === undefined) return refuse(`"${local}" is not exported, so nothing can reach it: ${mend}.`, node.id);
  if (second !== undefined && kind !== "view") {
    return refuse(
      `"${local}" is exported under two names, "${name.name}" and "${second.name}": leave one, it has one address.`,
      second.at,
    );
  }
  if (kind !== "view" && !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name.name)) {
    return refuse(`"${name.name}" is no name to call a function by: export it under an ordinary one.`, name.at);
  }
  if (kind !== "view" && name.name === "default") {
    return refuse(`${kind}() needs a name, and a default export has none: ${mend}.`, name.at);
  }
  return { kind, call, name: name.name, local, at: node.id, typedElsewhere: isTyped(node) };
}

function isTyped(node: ESTree.VariableDeclarator): boolean {
  const annotated = node.id.type === "Identifier" && node.id.typeAnnotation;
  let init: Node | null = node.init;
  while (init?.type === "ParenthesizedExpression" || init?.type === "TSNonNullExpression") init = init.expression;
  return Boolean(annotated) || (init !== null && init.type !== "CallExpression");
}
