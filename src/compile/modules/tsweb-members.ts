import { memberName, type Node, type Scope, stringValue, unwrapExpression } from "../syntax/index.ts";
import { importedNameOf } from "./jsx-values.ts";

/** A member of an object that `tsweb` exports, such as `session.user`. */
export interface TswebMember {
  /** The exported name of the object. */
  readonly object: string;
  readonly member: string;
}

/**
 * Returns which member of an object of `tsweb` an expression is, directly or through a constant: `session.user`,
 * `const user = session.user`, `const { user } = session`. Errs towards `undefined`.
 */
export function tswebMemberOf(expression: Node, scope: Scope): TswebMember | undefined {
  const value = unwrapChain(expression);
  if (value.type === "MemberExpression") return memberOf(value.object, memberName(value), scope);
  return value.type === "Identifier" ? memberOfVariable(value.name, scope) : undefined;
}

/** Returns an expression without parentheses, type assertions and the wrapper of `?.`. */
export function unwrapChain(node: Node): Node {
  const inner = unwrapExpression(node);
  return inner.type === "ChainExpression" ? unwrapChain(inner.expression) : inner;
}

function memberOfVariable(variable: string, scope: Scope): TswebMember | undefined {
  const binding = scope.findValue(variable);
  const [declaration, second] = binding?.declarations ?? [];
  if (!binding || binding.reassigned || second || declaration?.type !== "VariableDeclarator" || !declaration.init) {
    return undefined;
  }
  if (declaration.id.type === "Identifier") {
    const init = unwrapChain(declaration.init);
    return init.type === "MemberExpression" ? memberOf(init.object, memberName(init), binding.scope) : undefined;
  }
  if (declaration.id.type !== "ObjectPattern") return undefined;
  const property = declaration.id.properties.find(
    (each) => each.type === "Property" && each.value.type === "Identifier" && each.value.name === variable,
  );
  if (property?.type !== "Property" || property.computed) return undefined;
  const name = property.key.type === "Identifier" ? property.key.name : stringValue(property.key);
  return memberOf(declaration.init, name, binding.scope);
}

function memberOf(object: Node, member: string | undefined, scope: Scope): TswebMember | undefined {
  const imported = importedNameOf(unwrapChain(object), scope);
  return imported?.source === "tsweb" && member !== undefined ? { object: imported.name, member } : undefined;
}
