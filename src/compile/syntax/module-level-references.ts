import { expressionsIn } from "./expressions.ts";
import type { Binding, Scope, Scopes } from "./scope.ts";
import type { Node } from "./walk.ts";

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
