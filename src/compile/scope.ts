import type { ESTree } from "vite";
import { childrenOf, type Node, specifierName } from "./walk.ts";

/** What an imported name stands for. `name` is `"*"` for a namespace and `"default"` for a default import. */
export interface Imported {
  readonly source: string;
  readonly name: string;
}

/** What a name is bound to. */
export interface Binding {
  readonly name: string;
  readonly kind: "import" | "const" | "variable" | "function" | "class" | "parameter" | "type" | "typeParameter";
  /** Everything that declares it: several for an interface that is merged, or an overloaded function. */
  readonly nodes: Node[];
  /** The scope it was declared in, where the names in its declaration are looked up. */
  readonly scope: Scope;
  readonly imported?: Imported;
  /** Something assigns to it after it was declared. */
  reassigned: boolean;
}

/** The names of one block, function, type or module. Values and types are apart, as in TypeScript. */
export class Scope {
  readonly parent: Scope | undefined;
  /** Where a `var` inside this scope goes. */
  readonly functionScope: Scope;
  private readonly values = new Map<string, Binding>();
  private readonly types = new Map<string, Binding>();

  constructor(parent: Scope | undefined, isFunction: boolean) {
    this.parent = parent;
    this.functionScope = isFunction || parent === undefined ? this : parent.functionScope;
  }

  /** Finds what a name means as a value; `undefined` for a global. */
  value(name: string): Binding | undefined {
    return this.values.get(name) ?? this.parent?.value(name);
  }

  /** Finds what a name means as a type; `undefined` for a global. */
  type(name: string): Binding | undefined {
    return this.types.get(name) ?? this.parent?.type(name);
  }

  /** Answers whether this is the module's own scope. */
  get isModule(): boolean {
    return this.parent === undefined;
  }

  declare(
    space: "value" | "type" | "both",
    binding: Omit<Binding, "scope" | "reassigned" | "nodes">,
    node: Node,
  ): void {
    const made: Binding = { ...binding, nodes: [node], scope: this, reassigned: false };
    for (const names of space === "both" ? [this.values, this.types] : [space === "value" ? this.values : this.types]) {
      const known = names.get(binding.name);
      if (known) known.nodes.push(node);
      else names.set(binding.name, made);
    }
  }
}

/** The scopes of a module, by the node that opens each. */
export interface Scopes {
  readonly module: Scope;
  readonly of: ReadonlyMap<Node, Scope>;
}

/** Reads every declaration of a module, so that a name can be looked up anywhere in it. */
export function readScopes(program: ESTree.Program): Scopes {
  const reader = new Reader();
  const module = new Scope(undefined, true);
  reader.scopes.set(program, module);
  for (const child of program.body) reader.read(child, module);
  for (const { name, scope } of reader.assigned) {
    const binding = scope.value(name);
    if (binding) binding.reassigned = true;
  }
  return { module, of: reader.scopes };
}

/** Visits every node with the scope that its names are looked up in; `false` stops the way down. */
export function walkScoped(node: Node, scope: Scope, scopes: Scopes, visit: ScopedVisitor): void {
  const inner = scopes.of.get(node) ?? scope;
  if (visit(node, inner) === false) return;
  for (const child of childrenOf(node)) walkScoped(child, inner, scopes, visit);
}

/** @see walkScoped */
export type ScopedVisitor = (node: Node, scope: Scope) => boolean | undefined;

class Reader {
  readonly scopes = new Map<Node, Scope>();
  readonly assigned: { name: string; scope: Scope }[] = [];

  read(node: Node, scope: Scope): void {
    this.declareBy(node, scope);
    const inner = this.open(node, scope);
    for (const child of childrenOf(node)) {
      // A function's body shares the scope of its parameters: one lookup finds both.
      if (child.type === "BlockStatement" && isFunctionLike(node)) {
        for (const statement of childrenOf(child)) this.read(statement, inner);
      } else this.read(child, inner);
    }
  }

  private open(node: Node, scope: Scope): Scope {
    if (!opensScope(node)) return scope;
    const opened = new Scope(
      scope,
      isFunctionLike(node) || node.type === "StaticBlock" || node.type === "TSModuleBlock",
    );
    this.scopes.set(node, opened);
    if (node.type === "FunctionExpression" && node.id) {
      opened.declare("value", { name: node.id.name, kind: "function" }, node);
    }
    if (node.type === "ClassExpression" && node.id) opened.declare("both", { name: node.id.name, kind: "class" }, node);
    if (isFunctionLike(node)) {
      for (const param of node.params) this.pattern(param, "parameter", param, opened);
    }
    if (node.type === "CatchClause" && node.param) this.pattern(node.param, "variable", node, opened);
    if (node.type === "TSMappedType") opened.declare("type", { name: node.key.name, kind: "typeParameter" }, node);
    return opened;
  }

  private declareBy(node: Node, scope: Scope): void {
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
        for (const declarator of node.declarations) this.pattern(declarator.id, kind, declarator, target);
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
        this.assignment(node.left, scope);
        return;
      case "UpdateExpression":
        this.assignment(node.argument, scope);
        return;
      case "ForInStatement":
      case "ForOfStatement":
        if (node.left.type !== "VariableDeclaration") this.assignment(node.left, scope);
        return;
      default:
        return;
    }
  }

  private pattern(pattern: Node, kind: Binding["kind"], declaredBy: Node, scope: Scope): void {
    for (const name of patternNames(pattern)) scope.declare("value", { name, kind }, declaredBy);
  }

  private assignment(target: Node, scope: Scope): void {
    for (const name of patternNames(target)) this.assigned.push({ name, scope });
  }
}

/** Gives the names a pattern binds or assigns to, outermost first. */
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

const OPENING = new Set<string>([
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
  return isFunctionLike(node) || OPENING.has(node.type);
}
