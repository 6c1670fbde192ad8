import type { ESTree } from "vite";
import { childrenOf, declaredValue, memberPath, type Node, specifierName } from "./nodes.ts";

/** The module and export that an import refers to. `name` is `"*"` for a namespace and `"default"` for a default import. */
export interface ImportedName {
  readonly source: string;
  readonly name: string;
}

/** The meaning of a name in a scope. */
export interface Binding {
  readonly name: string;
  readonly kind: "import" | "const" | "variable" | "function" | "class" | "parameter" | "type" | "typeParameter";
  /** The nodes that declare the name. A merged interface or an overloaded function has several. */
  readonly declarations: Node[];
  /** The scope of the declaration, in which the names inside it are looked up. */
  readonly scope: Scope;
  readonly imported?: ImportedName;
  /** Whether the module assigns to the name after its declaration. */
  reassigned: boolean;
}

/** The names of one block, function, type or module. Values and types have separate names, as in TypeScript. */
export class Scope {
  readonly parent: Scope | undefined;
  /** The scope in which a `var` is declared. */
  readonly functionScope: Scope;
  private readonly values = new Map<string, Binding>();
  private readonly types = new Map<string, Binding>();

  constructor(parent: Scope | undefined, isFunction: boolean) {
    this.parent = parent;
    this.functionScope = isFunction || parent === undefined ? this : parent.functionScope;
  }

  /** Returns the value that a name refers to; `undefined` for a global. */
  findValue(name: string): Binding | undefined {
    return this.values.get(name) ?? this.parent?.findValue(name);
  }

  /** Returns the type that a name refers to; `undefined` for a global. */
  findType(name: string): Binding | undefined {
    return this.types.get(name) ?? this.parent?.findType(name);
  }

  /** Whether this is the top-level scope of the module. */
  get isModule(): boolean {
    return this.parent === undefined;
  }

  declare(
    space: "value" | "type" | "both",
    binding: Omit<Binding, "scope" | "reassigned" | "declarations">,
    node: Node,
  ): void {
    const declared: Binding = { ...binding, declarations: [node], scope: this, reassigned: false };
    for (const names of space === "both" ? [this.values, this.types] : [space === "value" ? this.values : this.types]) {
      const existing = names.get(binding.name);
      if (existing) existing.declarations.push(node);
      else names.set(binding.name, declared);
    }
  }
}

/** Returns the value of a name that is declared as `const name = …`; `undefined` for any other. */
export function constantValue(binding: Binding | undefined): Node | undefined {
  const [declaration] = binding?.kind === "const" ? binding.declarations : [];
  if (declaration?.type !== "VariableDeclarator" || declaration.id.type !== "Identifier") return undefined;
  return declaredValue(declaration);
}

const GLOBAL_OBJECTS: ReadonlySet<string> = new Set(["globalThis", "window", "self"]);

/**
 * Returns the names of a chain of members that starts at a global, as {@link memberPath}, without the global object of browsers:
 * `["fetch"]` for `window.fetch`. Returns `undefined` for a variable of the module, and an empty name for any other expression.
 */
export function globalPath(node: Node, scope: Scope): readonly string[] | undefined {
  const [root = "", ...members] = memberPath(node) ?? [];
  if (scope.findValue(root)) return undefined;
  return GLOBAL_OBJECTS.has(root) && members.length > 0 ? members : [root, ...members];
}

/** A node of a module, with its place in the tree. */
export interface PlacedNode<N extends Node = Node> {
  readonly node: N;
  /** The scope in which its names are looked up: its own one if it opens a scope. */
  readonly scope: Scope;
  readonly outer: PlacedNode | undefined;
}

/** The scopes of a module. */
export interface Scopes {
  readonly module: Scope;
  /** The scope that a node opens. */
  readonly byNode: ReadonlyMap<Node, Scope>;
  /** All nodes of the module by their type, each list in source order. */
  readonly byType: ReadonlyMap<string, readonly PlacedNode[]>;
}

/**
 * Returns the nodes of a module that have one of some types, in source order. All rules share the walk that has found them.
 *
 * @example for (const { node, scope } of nodesOf(scopes, "CallExpression")) …
 */
export function nodesOf<Type extends Node["type"]>(
  { byType }: Scopes,
  ...types: Type[]
): readonly PlacedNode<Node & { type: Type }>[] {
  const lists = types.map((type) => byType.get(type) ?? []);
  const found = lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort(bySource);
  return found as readonly PlacedNode<Node & { type: Type }>[]; // the lists are by type
}

/** Compares nodes by their places in the source, an outer node before those in it. */
function bySource({ node: one }: PlacedNode, { node: other }: PlacedNode): number {
  return one.start - other.start || other.end - one.end;
}

/** Returns the nodes around a node, the innermost first. */
export function ancestorsOf({ outer }: PlacedNode): Node[] {
  const ancestors: Node[] = [];
  for (let each = outer; each; each = each.outer) ancestors.push(each.node);
  return ancestors;
}

/** Reads every declaration of a module, so that any name in it can be looked up, and every node of it. */
export function readScopes(program: ESTree.Program): Scopes {
  const builder = new ScopeBuilder();
  const module = new Scope(undefined, true);
  builder.scopes.set(program, module);
  const place = builder.place(program, module, undefined);
  for (const child of program.body) builder.visit(child, module, place);
  for (const { name, scope } of builder.assignments) {
    const binding = scope.findValue(name);
    if (binding) binding.reassigned = true;
  }
  return { module, byNode: builder.scopes, byType: builder.byType };
}

/** Visits a node and its descendants, each with its scope. Where `visit` returns `false`, the children are skipped. */
export function walkScoped(node: Node, scope: Scope, scopes: Scopes, visit: ScopedVisitor): void {
  const inner = scopes.byNode.get(node) ?? scope;
  if (visit(node, inner) === false) return;
  for (const child of childrenOf(node)) walkScoped(child, inner, scopes, visit);
}

/** @see walkScoped */
export type ScopedVisitor = (node: Node, scope: Scope) => boolean | undefined;

class ScopeBuilder {
  readonly scopes = new Map<Node, Scope>();
  readonly byType = new Map<string, PlacedNode[]>();
  readonly assignments: { name: string; scope: Scope }[] = [];

  /** @param isBody whether the node is a function's body. Parameters cannot refer to its declarations, not even a `var`. */
  visit(node: Node, scope: Scope, outer: PlacedNode, isBody = false): void {
    this.declareNames(node, scope);
    const inner = this.openScope(node, scope, isBody);
    const place = this.place(node, inner, outer);
    for (const child of childrenOf(node)) {
      this.visit(child, inner, place, child.type === "BlockStatement" && isFunctionLike(node));
    }
  }

  place(node: Node, scope: Scope, outer: PlacedNode | undefined): PlacedNode {
    const place = { node, scope, outer };
    const others = this.byType.get(node.type);
    if (others) others.push(place);
    else this.byType.set(node.type, [place]);
    return place;
  }

  private openScope(node: Node, scope: Scope, isBody: boolean): Scope {
    if (!opensScope(node)) return scope;
    const opened = new Scope(
      scope,
      isBody || isFunctionLike(node) || node.type === "StaticBlock" || node.type === "TSModuleBlock",
    );
    this.scopes.set(node, opened);
    if (node.type === "FunctionExpression" && node.id) {
      opened.declare("value", { name: node.id.name, kind: "function" }, node);
    }
    if (node.type === "ClassExpression" && node.id) opened.declare("both", { name: node.id.name, kind: "class" }, node);
    if (isFunctionLike(node)) {
      for (const param of node.params) this.declarePattern(param, "parameter", param, opened);
    }
    if (node.type === "CatchClause" && node.param) this.declarePattern(node.param, "variable", node, opened);
    if (node.type === "TSMappedType") opened.declare("type", { name: node.key.name, kind: "typeParameter" }, node);
    return opened;
  }

  private declareNames(node: Node, scope: Scope): void {
    switch (node.type) {
      case "ImportDeclaration":
        for (const specifier of node.specifiers) declareImport(specifier, node.source.value, scope);
        return;
      case "TSImportEqualsDeclaration":
        scope.declare("both", { name: node.id.name, kind: "variable" }, node);
        return;
      case "VariableDeclaration": {
        const target = node.kind === "var" ? scope.functionScope : scope;
        const kind = node.kind === "const" ? "const" : "variable";
        for (const declarator of node.declarations) this.declarePattern(declarator.id, kind, declarator, target);
        return;
      }
      case "FunctionDeclaration":
      case "TSDeclareFunction":
        if (node.id) scope.declare("value", { name: node.id.name, kind: "function" }, node);
        return;
      case "ClassDeclaration":
        if (node.id) scope.declare("both", { name: node.id.name, kind: "class" }, node);
        return;
      case "TSEnumDeclaration":
        scope.declare("both", { name: node.id.name, kind: "class" }, node);
        return;
      case "TSModuleDeclaration":
        if (node.id.type === "Identifier") scope.declare("both", { name: node.id.name, kind: "class" }, node);
        return;
      case "TSTypeAliasDeclaration":
      case "TSInterfaceDeclaration":
        scope.declare("type", { name: node.id.name, kind: "type" }, node);
        return;
      case "TSTypeParameter":
        scope.declare("type", { name: node.name.name, kind: "typeParameter" }, node);
        return;
      case "AssignmentExpression":
        this.recordAssignment(node.left, scope);
        return;
      case "UpdateExpression":
        this.recordAssignment(node.argument, scope);
        return;
      case "ForInStatement":
      case "ForOfStatement":
        if (node.left.type !== "VariableDeclaration") this.recordAssignment(node.left, scope);
        return;
      default:
        return;
    }
  }

  private declarePattern(pattern: Node, kind: Binding["kind"], declaredBy: Node, scope: Scope): void {
    for (const name of patternNames(pattern)) scope.declare("value", { name, kind }, declaredBy);
  }

  private recordAssignment(target: Node, scope: Scope): void {
    for (const name of patternNames(target)) this.assignments.push({ name, scope });
  }
}

/** Returns the names that a pattern declares or assigns, in source order. */
export function patternNames(pattern: Node): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "AssignmentPattern":
      return patternNames(pattern.left);
    case "RestElement":
      return patternNames(pattern.argument);
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? patternNames(element) : []));
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        patternNames(property.type === "RestElement" ? property.argument : property.value),
      );
    case "TSParameterProperty":
      return patternNames(pattern.parameter);
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
      return patternNames(pattern.expression);
    default:
      return [];
  }
}

function declareImport(specifier: ESTree.ImportDeclarationSpecifier, source: string, scope: Scope): void {
  const name =
    specifier.type === "ImportNamespaceSpecifier"
      ? "*"
      : specifier.type === "ImportDefaultSpecifier"
        ? "default"
        : specifierName(specifier.imported);
  scope.declare("both", { name: specifier.local.name, kind: "import", imported: { source, name } }, specifier);
}

function isFunctionLike(node: Node): node is ESTree.Function | ESTree.ArrowFunctionExpression {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression" ||
    node.type === "TSDeclareFunction" ||
    node.type === "TSEmptyBodyFunctionExpression"
  );
}

const SCOPE_NODES = new Set<string>([
  "BlockStatement",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "SwitchStatement",
  "CatchClause",
  "StaticBlock",
  "ClassDeclaration",
  "ClassExpression",
  "TSModuleBlock",
  "TSTypeAliasDeclaration",
  "TSInterfaceDeclaration",
  "TSMappedType",
  "TSConditionalType",
  "TSFunctionType",
  "TSConstructorType",
  "TSMethodSignature",
  "TSCallSignatureDeclaration",
  "TSConstructSignatureDeclaration",
]);

function opensScope(node: Node): boolean {
  return isFunctionLike(node) || SCOPE_NODES.has(node.type);
}
