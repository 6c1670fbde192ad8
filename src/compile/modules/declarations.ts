import type { ESTree } from "vite";
import {
  CompileError,
  exportsOfLocal,
  type ModuleExports,
  memberName,
  type Node,
  nodesOf,
  type Scope,
  type Scopes,
  type SourceFile,
  type SourceRange,
  unwrapExpression,
} from "../syntax/index.ts";

/** The functions of tsweb whose calls the compile step reads. */
export type DeclarationKind = "server" | "query" | "page" | "route" | "view";

/** A call of one of these functions that initializes an export. */
export interface Declaration {
  readonly kind: DeclarationKind;
  readonly call: ESTree.CallExpression;
  /** Its exported name. */
  readonly name: string;
  /** Its name inside the module. Absent for `export default view(…)`. */
  readonly local?: string;
  /** The range of its name, or of the call when it has none. */
  readonly nameRange: SourceRange;
  /** Whether its type is declared outside the call: by an annotation, `as` or `satisfies`. */
  readonly typedElsewhere: boolean;
}

/** What is known of a module before its declarations are read. */
export interface DeclaringModule {
  readonly source: SourceFile;
  readonly scopes: Scopes;
  readonly exports: ModuleExports;
  readonly isServerModule: boolean;
}

const KINDS_BY_ENTRY_POINT: Readonly<Record<string, readonly DeclarationKind[]>> = {
  tsweb: ["server", "query", "page", "route"],
  "tsweb/browser": ["view"],
};

/** Returns which kind of declaration a call is, regardless of the alias of the import; `undefined` for any other call. */
function declarationKind(call: ESTree.CallExpression, scope: Scope): DeclarationKind | undefined {
  const callee = unwrapExpression(call.callee);
  if (callee.type === "Identifier") {
    const imported = scope.findValue(callee.name)?.imported;
    return imported && kindOfImport(imported.source, imported.name);
  }
  if (callee.type !== "MemberExpression") return undefined;
  const object = unwrapExpression(callee.object);
  const property = memberName(callee);
  const imported = object.type === "Identifier" ? scope.findValue(object.name)?.imported : undefined;
  return imported?.name === "*" && property !== undefined ? kindOfImport(imported.source, property) : undefined;
}

function kindOfImport(source: string, name: string): DeclarationKind | undefined {
  return Object.hasOwn(KINDS_BY_ENTRY_POINT, source)
    ? KINDS_BY_ENTRY_POINT[source]?.find((kind) => kind === name)
    : undefined;
}

/** Collects the mistakes of a module, so that one does not keep the rest of the module from being read. */
export class Mistakes {
  readonly found: CompileError[] = [];

  /** Runs a function that may throw a CompileError. */
  collect(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      this.found.push(error);
    }
  }
}

/**
 * Finds the declarations of a module. A declaration that does not initialize an exported const, or is in the wrong kind of
 * module, is a mistake.
 */
export function findDeclarations(program: ESTree.Program, module: DeclaringModule, mistakes: Mistakes): Declaration[] {
  const { scopes, exports, source } = module;
  const positions = topLevelPositions(program);
  const declarations: Declaration[] = [];
  for (const { node, scope } of nodesOf(scopes, "CallExpression")) {
    const kind = declarationKind(node, scope);
    if (kind === undefined) continue;
    mistakes.collect(() => {
      checkModuleKind(kind, node, module, positions);
      declarations.push(readDeclaration(kind, node, { position: positions.get(node), scope, exports, source }));
    });
  }
  return declarations;
}

function checkModuleKind(
  kind: DeclarationKind,
  call: Node,
  module: DeclaringModule,
  positions: ReadonlyMap<Node, TopLevelPosition>,
): void {
  const { source, isServerModule } = module;
  if (kind === "view" && isServerModule) {
    throw new CompileError(
      "view() cannot be used in a server module, because the browser never receives the module's code. Move the view to a file without .server in its path.",
      source,
      call,
    );
  }
  if (kind !== "view" && !isServerModule) {
    const problem = `${kind}() must be in a server module, so that its code never reaches the browser.`;
    const base = source.file.slice(source.file.lastIndexOf("/") + 1);
    const serverName = base.replace(/\.([^.]+)$/, ".server.$1");
    const fix = exportsOtherValues(module, positions)
      ? `Move this declaration to a file such as "${serverName}", and list that module in \`modules\` of new App.`
      : `Rename this file to "${serverName}".`;
    throw new CompileError(`${problem} ${fix}`, source, call);
  }
}

/** Returns whether a module exports more than declarations for the server: a module of that name could not export it to browsers. */
function exportsOtherValues(
  { exports, scopes }: DeclaringModule,
  positions: ReadonlyMap<Node, TopLevelPosition>,
): boolean {
  const declared = new Set<string>();
  for (const [node, position] of positions) {
    if (position.kind !== "declarator" || node.type !== "CallExpression") continue;
    const kind = declarationKind(node, scopes.module);
    if (kind && kind !== "view" && position.node.id.type === "Identifier") declared.add(position.node.id.name);
  }
  const values = exports.named.filter((exported) => !exported.isType);
  return values.some(({ local }) => local === undefined || !declared.has(local)) || exports.starExports.length > 0;
}

/** The top-level variable or default export that an expression is the value of. */
type TopLevelPosition =
  | {
      readonly kind: "declarator";
      readonly variables: ESTree.VariableDeclaration;
      readonly node: ESTree.VariableDeclarator;
    }
  | { readonly kind: "default"; readonly node: ESTree.ExportDefaultDeclaration };

function topLevelPositions(program: ESTree.Program): Map<Node, TopLevelPosition> {
  const positions = new Map<Node, TopLevelPosition>();
  for (const statement of program.body) {
    if (statement.type === "ExportDefaultDeclaration") {
      positions.set(unwrapExpression(statement.declaration), { kind: "default", node: statement });
      continue;
    }
    const variables = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (variables?.type !== "VariableDeclaration") continue;
    for (const node of variables.declarations) {
      if (node.init) positions.set(unwrapExpression(node.init), { kind: "declarator", variables, node });
    }
  }
  return positions;
}

interface DeclarationContext {
  readonly position: TopLevelPosition | undefined;
  readonly scope: Scope;
  readonly exports: ModuleExports;
  readonly source: SourceFile;
}

function readDeclaration(
  kind: DeclarationKind,
  call: ESTree.CallExpression,
  { position, scope, exports, source }: DeclarationContext,
): Declaration {
  const reject = (message: string, at: SourceRange): never => {
    throw new CompileError(message, source, at);
  };
  const fixFor = (name: string) => `Write \`export const ${name} = ${kind}(…)\`.`;
  const fix = fixFor(kind === "view" ? "Name" : "name");
  const unnamed = `${kind}() needs a name, but a default export has none. ${fix}`;
  if (position === undefined) {
    return scope.isModule
      ? reject(`${kind}() must be the whole value of an exported const. ${fix}`, call)
      : reject(`${kind}() must be at the top level of its module, not inside a function or block. ${fix}`, call);
  }
  if (position.kind === "default") {
    if (kind !== "view") return reject(unnamed, call);
    return { kind, call, name: "default", nameRange: call, typedElsewhere: false };
  }
  const { variables, node } = position;
  if (node.id.type !== "Identifier") return reject(`The result of ${kind}() cannot be destructured. ${fix}`, node.id);
  if (variables.kind !== "const") {
    return reject(`The result of ${kind}() must be declared with const. ${fix}`, variables);
  }
  const local = node.id.name;
  const [entry, second] = exportsOfLocal(exports, local);
  if (entry === undefined) {
    return reject(`"${local}" is not exported, so the application cannot use it. ${fixFor(local)}`, node.id);
  }
  if (second !== undefined && kind !== "view") {
    return reject(
      `"${local}" is exported under two names, "${entry.name}" and "${second.name}", but must have one. Remove one of the exports.`,
      second.at,
    );
  }
  if (kind !== "view" && !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(entry.name)) {
    return reject(
      `The export name "${entry.name}" is not an identifier. Export it under a name that is one.`,
      entry.at,
    );
  }
  if (kind !== "view" && entry.name === "default") return reject(unnamed, entry.at);
  return { kind, call, name: entry.name, local, nameRange: node.id, typedElsewhere: isTypedElsewhere(node) };
}

function isTypedElsewhere(node: ESTree.VariableDeclarator): boolean {
  const annotated = node.id.type === "Identifier" && node.id.typeAnnotation;
  let init: Node | null = node.init;
  while (init?.type === "ParenthesizedExpression" || init?.type === "TSNonNullExpression") init = init.expression;
  return Boolean(annotated) || (init !== null && init.type !== "CallExpression");
}
