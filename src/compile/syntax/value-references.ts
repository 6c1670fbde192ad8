import type { ESTree } from "vite";
import { childrenOf, type Node } from "./nodes.ts";
import type { Binding, Scope, Scopes } from "./scope.ts";

/** A use of a name that the module imports or declares at its top level. */
export interface ModuleLevelReference {
  readonly binding: Binding;
  /** The property that is read of it, as in `views.Counter` and `<views.Counter />`. Absent for any other use. */
  readonly member?: string;
}

/** Returns the uses of imported and top-level values in a node, as expressions or as elements of JSX. */
export function findModuleLevelReferences(node: Node, scopes: Scopes): ModuleLevelReference[] {
  const found: ModuleLevelReference[] = [];
  const add = (name: string, scope: Scope, member?: string) => {
    const binding = scope.findValue(name);
    if (binding?.scope.isModule) found.push(member === undefined ? { binding } : { binding, member });
  };
  const visit = (child: Node, outer: Scope) => {
    const scope = scopes.byNode.get(child) ?? outer;
    const member = memberOfName(child);
    if (member) return add(member.object, scope, member.property);
    if (child.type === "Identifier" || child.type === "JSXIdentifier") return add(child.name, scope);
    for (const inner of valuesIn(child)) visit(inner, scope);
  };
  visit(node, scopes.module);
  return found;
}

/** Returns the names in `views.Counter` and `<views.Counter>`. */
function memberOfName(node: Node): { object: string; property: string } | undefined {
  if (node.type === "MemberExpression" && !node.computed) {
    if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return undefined;
    return { object: node.object.name, property: node.property.name };
  }
  if (node.type !== "JSXMemberExpression" || node.object.type !== "JSXIdentifier") return undefined;
  return { object: node.object.name, property: node.property.name };
}

function valuesIn(node: Node): readonly Node[] {
  switch (node.type) {
    case "JSXAttribute":
      return node.value ? [node.value] : [];
    case "JSXMemberExpression":
      return [node.object];
    case "JSXOpeningElement":
      return isHtmlElement(node.name) ? node.attributes : [node.name, ...node.attributes];
    case "JSXClosingElement":
      return [];
    default:
      return expressionsIn(node);
  }
}

/** The names of HTML elements start with a lower-case letter; all other names refer to components. */
function isHtmlElement(name: Node): boolean {
  return name.type === "JSXIdentifier" && /^[a-z]/.test(name.name);
}

/** A use of a global name, as in `process.env`: an identifier that the module declares nowhere, or with `declare`. */
export interface GlobalReference {
  readonly node: ESTree.IdentifierReference;
  readonly scope: Scope;
  /** The nodes that contain it, the innermost first. */
  readonly ancestors: readonly Node[];
  /** Whether the module has a `declare const` for the name. */
  readonly isDeclared: boolean;
}

/**
 * Returns the uses of global names in expressions. Types, `declare` statements, property names, labels and the operand of
 * `typeof`, which does not fail for a missing name, are not included.
 */
export function findGlobalReferences(
  program: ESTree.Program,
  scopes: Scopes,
  names: ReadonlySet<string>,
): GlobalReference[] {
  const found: GlobalReference[] = [];
  const ambient = ambientVariables(program);
  const visit = (node: Node, outer: Scope, ancestors: readonly Node[]) => {
    const scope = scopes.byNode.get(node) ?? outer;
    if (node.type === "Identifier" && names.has(node.name)) {
      const declarations = scope.findValue(node.name)?.declarations ?? [];
      if (declarations.every((declaration) => ambient.has(declaration))) {
        const isDeclared = declarations.length > 0;
        // A name that nothing in the module declares is a reference.
        found.push({ node: node as ESTree.IdentifierReference, scope, ancestors, isDeclared });
      }
    }
    const path = [node, ...ancestors];
    for (const child of expressionsIn(node)) visit(child, scope, path);
  };
  visit(program, scopes.module, []);
  return found;
}

/** Returns the declarators of the module's statements such as `declare const process: Process`. They have no value. */
function ambientVariables(program: ESTree.Program): ReadonlySet<Node> {
  return new Set(
    program.body.flatMap((statement) =>
      statement.type === "VariableDeclaration" && statement.declare ? statement.declarations : [],
    ),
  );
}

/** The nodes of TypeScript that contain expressions. All others are types. */
const TYPED_EXPRESSIONS = new Set([
  ...["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion", "TSInstantiationExpression"],
  ...["TSEnumDeclaration", "TSEnumBody", "TSEnumMember", "TSModuleDeclaration", "TSModuleBlock", "TSExportAssignment"],
  "TSParameterProperty",
]);

/** Returns the children of a node that may contain references to values. */
export function expressionsIn(node: Node): readonly Node[] {
  if (node.type.startsWith("TS") && !TYPED_EXPRESSIONS.has(node.type)) return [];
  if ("declare" in node && node.declare) return [];
  switch (node.type) {
    case "MemberExpression":
      return node.computed ? [node.object, node.property] : [node.object];
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "AccessorProperty":
      return childrenOf(node).filter((child) => child !== node.key || node.computed);
    case "TSEnumMember":
      return node.initializer ? [node.initializer] : [];
    case "UnaryExpression":
      return node.operator === "typeof" && node.argument.type === "Identifier" ? [] : [node.argument];
    case "LabeledStatement":
      return [node.body];
    case "ImportDeclaration":
    case "ExportSpecifier":
    case "BreakStatement":
    case "ContinueStatement":
    case "MetaProperty":
      return [];
    default:
      return childrenOf(node);
  }
}
