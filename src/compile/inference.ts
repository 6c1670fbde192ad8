import type { Binding, Scope } from "./scope.ts";
import { any, type Facts, union } from "./type-facts.ts";
import { type TypeReader, typeFacts } from "./types.ts";
import type { Node } from "./walk.ts";

const ARITHMETIC = new Set(["-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>"]);
const COMPARISONS = new Set(["<", "<=", ">", ">=", "==", "!=", "===", "!==", "in", "instanceof"]);

/** Gives the facts of a literal, `-1` included; anything that is not one is documentation only. */
export function literalFacts(node: Node): Facts {
  if (node.type === "UnaryExpression" && (node.operator === "-" || node.operator === "+")) {
    const inner = literalFacts(node.argument);
    const value = inner.literals[0];
    if (typeof value !== "number") return any();
    return { kinds: [], literals: [node.operator === "-" ? -value : value] };
  }
  if (node.type !== "Literal") return any();
  const { value } = node;
  if (value === null && node.raw === "null") return { kinds: [], literals: [], nullable: true };
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return { kinds: [], literals: [value] };
  }
  return any();
}

/**
 * Infers a default value's type as TypeScript does: `3` makes a `number`, `true` a `boolean`, and so do
 * sums, comparisons and the consts of this module. What cannot be told is documentation only.
 */
export function inferredFacts(node: Node, scope: Scope, reader: TypeReader): Facts {
  const infer = (child: Node) => inferredFacts(child, scope, reader);
  switch (node.type) {
    case "ParenthesizedExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
      return infer(node.expression);
    case "TSAsExpression":
    case "TSTypeAssertion":
      return isConst(node.typeAnnotation)
        ? infer(node.expression)
        : typeFacts({ node: node.typeAnnotation, scope }, reader);
    case "UnaryExpression":
      if (node.operator === "!") return { kinds: ["boolean"], literals: [] };
      return node.operator === "-" || node.operator === "+" || node.operator === "~"
        ? numeric([node.argument], infer)
        : any();
    case "BinaryExpression":
      if (COMPARISONS.has(node.operator)) return { kinds: ["boolean"], literals: [] };
      return ARITHMETIC.has(node.operator) || node.operator === "+" ? numeric([node.left, node.right], infer) : any();
    case "ConditionalExpression":
      return union([infer(node.consequent), infer(node.alternate)]);
    case "Identifier": {
      const binding = scope.value(node.name);
      if (binding) return valueFacts(binding, reader);
      return node.name === "Infinity" || node.name === "NaN" ? { kinds: ["float"], literals: [] } : any();
    }
    default:
      return widen(literalFacts(node));
  }
}

/** Says what a const of this module is, by its annotation or else by its value. */
export function valueFacts(binding: Binding, reader: TypeReader): Facts {
  const declared = binding.nodes[0];
  if (declared?.type !== "VariableDeclarator" || declared.id.type !== "Identifier") return any();
  const annotation = declared.id.typeAnnotation?.typeAnnotation;
  if (annotation) return typeFacts({ node: annotation, scope: binding.scope }, reader);
  // Two consts made of each other never get a value: nothing to tell, and no end to look for.
  if (!declared.init || reader.path.includes(declared)) return any();
  return inferredFacts(declared.init, binding.scope, { ...reader, path: [...reader.path, declared] });
}

function numeric(operands: readonly Node[], infer: (node: Node) => Facts): Facts {
  const numbers = operands.every((operand) => {
    const { kinds, other } = infer(operand);
    return !other && kinds.length > 0 && !kinds.includes("boolean");
  });
  return numbers ? { kinds: ["float"], literals: [] } : any();
}

/** A literal as a default makes its whole type, not the one value; a string makes one that is not checked. */
function widen(facts: Facts): Facts {
  const value = facts.literals[0];
  if (typeof value === "number") return { kinds: ["float"], literals: [] };
  if (typeof value === "boolean") return { kinds: ["boolean"], literals: [] };
  return value === undefined ? facts : any();
}

function isConst(type: Node): boolean {
  return type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const";
}
